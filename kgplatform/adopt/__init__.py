"""A graph that is there already, read beside the documents: a node of it is a row, a row is a document of sentences.

mapping   which labels and relationships are read, and the sentences that say them: a file that people edit
propose   a first mapping, from what the other graph's schema shows
rows      rows out of the other graph, as documents with facts that nobody had to guess

The rest is ``ingest``: what changed is known by hashes, and all that works on documents works on rows. Of the other
graph nothing is written, ever: its statements run in sessions that can only read.
"""
