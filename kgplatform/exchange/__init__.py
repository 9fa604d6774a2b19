"""The whole graph out of the database: JSON lines, GraphML, CSV for `neo4j-admin`; and back, from JSON lines.
One answer with its evidence, as a file."""

from kgplatform.exchange.answer_file import Verified, export_answer, verify_answer
from kgplatform.exchange.elements import ExchangeReport
from kgplatform.exchange.exporter import export_graph
from kgplatform.exchange.importer import import_graph

__all__ = ["ExchangeReport", "Verified", "export_answer", "export_graph", "import_graph", "verify_answer"]
