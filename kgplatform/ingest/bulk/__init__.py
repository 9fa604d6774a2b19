"""First builds by bulk import: a large corpus into an empty graph of the managed server.

decide    is the graph empty, the server ours, the corpus large, and no model asked? else transactions write, as always
spill     what the ingest would write goes to disk instead, parted by id (``graph_files``)
tables    put together, so that each node is written once, numbered, and written as the files of CSV (``tables``)
import    Neo4j's own program makes the database of them while the server is stopped (``first_build``)

Until the import is over nothing is in the graph: whoever ends before that begins again. The import itself is all or
nothing (``neo4j.full_import``).
"""
