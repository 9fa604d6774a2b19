"""LangChain on a graph: the public names (``kgplatform.doors.adapters.langchain``)."""

from kgplatform.doors.adapters.langchain import KgRetriever, from_graph_documents, to_graph_documents

__all__ = ["KgRetriever", "from_graph_documents", "to_graph_documents"]
