"""The whole graph out of the database: JSON lines, GraphML, CSV for `neo4j-admin`; and back, from JSON lines."""

from kgplatform.exchange.elements import ExchangeReport
from kgplatform.exchange.exporter import export_graph
from kgplatform.exchange.importer import import_graph

__all__ = ["ExchangeReport", "export_graph", "import_graph"]
