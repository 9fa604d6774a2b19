"""LlamaIndex on a graph: the public names (``kgplatform.doors.adapters.llamaindex``)."""

from kgplatform.doors.adapters.llamaindex import KgRetriever

__all__ = ["KgRetriever"]
