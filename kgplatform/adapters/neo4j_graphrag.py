"""neo4j-graphrag on a graph: the public names (``kgplatform.doors.adapters.neo4j_graphrag``)."""

from kgplatform.doors.adapters.neo4j_graphrag import KgEmbedder, KgLLM, KgRetriever, schema_text

__all__ = ["KgEmbedder", "KgLLM", "KgRetriever", "schema_text"]
