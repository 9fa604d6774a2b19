"""The whole graph out of the database and back: JSON lines, GraphML, CSV for `neo4j-admin`, a Cypher script."""

from kgplatform.exchange.elements import ExchangeReport
from kgplatform.exchange.exporting import export_graph
from kgplatform.exchange.importing import import_graph

__all__ = ["ExchangeReport", "export_graph", "import_graph"]
