"""Anonymity reversion (AnonyRAG; Youtu-GraphRAG, appendix B): names out of a corpus and back, questions, scores."""
