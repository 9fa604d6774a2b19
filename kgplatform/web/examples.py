"""Examples for OpenAPI: what each endpoint takes and says, over the sample corpus."""

from __future__ import annotations

from typing import Any

from kgplatform.query import load_query

Example = dict[str, Any]

_DOCUMENT = "5f0c3d1e9a7b4c2d8e6f0a1b2c3d4e5f"
_FACT = "9b1d2c3e4f5a6b7c8d9e0f1a2b3c4d5e"
_CHUNK = "c0ffee00112233445566778899aabbcc"
_FIELD = "a1b2c3d4e5f60718293a4b5c6d7e8f90"
_MAURY = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
_COMMUNITY = "77665544332211ffeeddccbbaa009988"
_RUN = "3e2d1c0b9a8f7e6d5c4b3a2918070605"
_JOB = "d41d8cd98f00b204e9800998ecf8427e"
_ASKED = "Cyrus Field asked Matthew Fontaine Maury what the floor of the Atlantic was like."
_QUOTE = {"document": _DOCUMENT, "title": "Cyrus Field", "start": 842, "end": 915, "page": None, "chunk": _CHUNK}
_QUESTION = "Whom did Cyrus Field ask about the floor of the Atlantic?"

HEALTH: Example = {"status": "ok", "version": "0.1.0", "neo4j": "5.26.30"}
ABOUT: Example = {
    "version": "0.1.0",
    "readers": [
        {
            "name": "retrieve",
            "about": "One search, one answer.",
            "needs_model": False,
            "options": [
                {"name": "mode", "type": "string", "default": "reject", "choices": ["reject", "open"]},
                {"name": "top_k", "type": "integer", "default": 10, "choices": []},
            ],
        }
    ],
    "routes": ["all", "entity", "triple", "path"],
    "schemas": ["biomedical", "company", "general", "literature"],
    "model": "gpt-4.1-mini",
    "embedder": "local:all-MiniLM-L6-v2",
    "browser_url": "http://127.0.0.1:7474/browser/",
    "documents": 20,
    "entities": 131,
    "has_tree": True,
    "types": {"Person": 32, "Organization": 12},
    "token_needed": False,
    "read_only": False,
}
STATS: Example = {
    "nodes": {"Document": 20, "Chunk": 20, "Fact": 178, "Entity": 131},
    "relationships": {"FROM_CHUNK": 420, "SUBJECT": 178},
    "elements": {
        "nodes": 150,
        "facts": 178,
        "mean_neighbours": 3.1,
        "most_neighbours": 24,
        "mean_facts": 2.3,
        "most_facts": 19,
    },
    "calls": None,
}
SCHEMA: Example = {
    "schema": {"name": "general", "entities": [{"name": "Person", "description": "a human being"}], "relations": []},
    "expansions": [
        {
            "kind": "entity",
            "name": "Cable",
            "confidence": 0.95,
            "example": "the cable of 1866",
            "count": 4,
            "chunk": _CHUNK,
        }
    ],
}
DOCUMENTS: Example = {
    "documents": [
        {
            "id": _DOCUMENT,
            "name": "Cyrus Field",
            "uri": "file:///home/me/corpus/Cyrus_Field.txt",
            "source": "file:///home/me/corpus/Cyrus_Field.txt",
            "characters": 1630,
            "tokens": 341,
            "addedAt": "2026-01-31T12:00:00Z",
            "chunks": 1,
            "extracted": 1,
            "failed": 0,
            "pages": 0,
            "compression": None,
        }
    ]
}
_FACT_AT = {**_QUOTE, "id": _FACT, "text": _ASKED, "kind": "triple", "found": True}
DOCUMENT_TEXT: Example = {
    "id": _DOCUMENT,
    "name": "Cyrus Field",
    "uri": "file:///home/me/corpus/Cyrus_Field.txt",
    "source": "file:///home/me/corpus/Cyrus_Field.txt",
    "characters": 1630,
    "start": 842,
    "end": 915,
    "text": "to Matthew Fontaine Maury, to ask what the floor of the Atlantic was like",
    "facts": [_FACT_AT],
}
UPLOAD_FORM: Example = {
    "schema": {
        "type": "object",
        "required": ["files"],
        "properties": {
            "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "schema": {"type": "string", "default": "general", "description": "One of the schemas of /api/about."},
            "extractor": {"type": "string", "enum": ["", "llm", "local", "recorded"], "default": ""},
            "mode": {"type": "string", "enum": ["", "strict", "flexible"], "default": ""},
            "facts": {"type": "boolean", "default": False, "description": "Then have a model read atomic facts."},
        },
    },
    "example": {"files": ["(a file)"], "schema": "general", "extractor": "local"},
}
TREE_BODY: Example = {"method": None, "rebuild": False}
JOB: Example = {
    "id": _JOB,
    "kind": "ingest",
    "state": "running",
    "stage": "extracting",
    "done": 12,
    "total": 40,
    "seconds": 8.2,
    "files": ["report.pdf"],
    "report": None,
    "error": None,
}
JOB_EVENTS = f"""\
event: progress
data: {{"id": "{_JOB}", "kind": "ingest", "state": "running", "stage": "extracting", "done": 12, "total": 40}}

event: end
data: {{"id": "{_JOB}", "kind": "ingest", "state": "done", "report": {{"added": 1}}}}
"""
SEARCH_BODY: Example = {"question": _QUESTION, "route": "all", "top_k": 5}
_PASSAGE = {
    "id": _CHUNK,
    "document": _DOCUMENT,
    "title": "Cyrus Field",
    "start": 0,
    "end": 1630,
    "page": None,
    "text": "Cyrus West Field was an American businessman …",
    "score": 0.71,
    "routes": ["entity", "passage"],
}
FOUND: Example = {
    "question": _QUESTION,
    "passages": [_PASSAGE],
    "facts": [
        {
            "id": _FACT,
            "text": _ASKED,
            "score": 0.83,
            "routes": ["triple"],
            "citations": [{**_QUOTE, "found": True}],
        }
    ],
    "seconds": 0.04,
    "paths": [],
    "communities": [],
}
ASK_BODY: Example = {"question": _QUESTION, "reader": "retrieve", "options": {"top_k": 5}, "keep": False}
_USAGE = {"calls": 1, "input_tokens": 812, "output_tokens": 40, "cached_calls": 0}
_STEP = {
    "name": "search",
    "detail": "5 passages, 5 facts",
    "seconds": 0.04,
    "prompt": None,
    "reply": "",
    "queries": [],
    "facts": [_FACT],
    "passages": [_CHUNK],
    "usage": {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cached_calls": 0},
    "elements": [],
    "path": 0,
    "pages": [],
    "statements": [
        {"number": 1, "name": "retrieve/triple", "rows": 50, "seconds": 0.006, "text": ":param k => 50;\nCALL …;"}
    ],
}
ANSWER: Example = {
    "question": _QUESTION,
    "reader": "retrieve",
    "text": "He asked Matthew Fontaine Maury [1].",
    "citations": [{**_QUOTE, "found": True}],
    "evidence": FOUND,
    "trace": [_STEP],
    "usage": _USAGE,
    "note": "",
    "run": None,
    "counts": {},
}
ASK_EVENTS = """\
event: step
data: {"number": 1, "step": {"name": "search", "detail": "5 passages, 5 facts", "seconds": 0.04, "statements": []}}

event: answer
data: {"question": "Whom …?", "reader": "retrieve", "text": "He asked Matthew Fontaine Maury [1].", "citations": []}
"""
CYPHER_BODY: Example = {
    "statement": load_query("client/node_counts").text,
    "parameters": {},
    "limit": 100,
    "timeout": 10,
}
ROWS: Example = {"columns": ["label", "count"], "rows": [["Chunk", 20], ["Document", 20]], "truncated": False}

_NODE = {"id": _FIELD, "name": "Cyrus Field", "kind": "Entity", "type": "Person", "text": "", "degree": 31}
_OTHER = {**_NODE, "id": _MAURY, "name": "Matthew Fontaine Maury", "degree": 12}
_EDGE = {"id": "e-1", "source": _FIELD, "target": _MAURY, "type": "ASKED", "label": "asked", "fact": _FACT}
_BRANCH = {
    "id": _COMMUNITY,
    "name": "The Atlantic cable",
    "summary": "Those who laid the first cables under the Atlantic.",
    "kind": "Community",
    "size": 40,
    "depth": 0,
    "score": None,
    "children": 12,
}
_COMMUNITY_NODE = {**_NODE, "id": _COMMUNITY, "name": "The Atlantic cable", "kind": "Community", "type": None}
MAP: Example = {
    "ids": [_FIELD, _MAURY],
    "names": ["Cyrus Field", "Matthew Fontaine Maury"],
    "kinds": ["Entity", "Entity"],
    "types": ["Person", "Person"],
    "x": [0.0, 12.5],
    "y": [3.0, -7.25],
    "sizes": [19, 6],
    "communities": [_COMMUNITY, _COMMUNITY],
    "sources": [0],
    "targets": [1],
    "total_nodes": 131,
    "total_edges": 150,
    "discs": [{"id": _COMMUNITY, "name": "The Atlantic cable", "x": 5.0, "y": 0.0, "radius": 80.0, "depth": 0}],
}
NODES: Example = {"nodes": [_NODE]}
NODE_DETAILS: Example = {
    "node": _NODE,
    "labels": ["Entity", "KeyElement", "Person"],
    "properties": {"name": "Cyrus Field", "type": "Person", "aliases": ["Cyrus West Field"]},
    "facts": [_FACT_AT],
    "communities": [_COMMUNITY_NODE],
}
SUBGRAPH_BODY: Example = {"ids": [_FACT, _CHUNK]}
SUBGRAPH: Example = {"nodes": [_NODE, _OTHER], "edges": [_EDGE], "more": 0}
TREE: Example = {"nodes": [_BRANCH]}
COMMUNITY: Example = {"node": {**NODE_DETAILS, "node": _COMMUNITY_NODE}, "members": [_NODE, _OTHER]}
_RUN_INFO = {
    "id": _RUN,
    "question": _QUESTION,
    "reader": "retrieve",
    "answer": "He asked Matthew Fontaine Maury [1].",
    "note": "",
    "at": "2026-01-31T12:00:00Z",
    "seconds": 2.1,
    "calls": 1,
    "input_tokens": 812,
    "output_tokens": 40,
    "steps": 2,
}
RUNS: Example = {"runs": [_RUN_INFO]}
RUN: Example = {
    "run": _RUN_INFO,
    "steps": [
        {
            "number": 1,
            "path": 0,
            "name": "search",
            "detail": "5 passages, 5 facts",
            "prompt": None,
            "reply": "",
            "seconds": 0.04,
            "statements": [":param k => 50;\nCALL …;"],
            "facts": [_FACT],
            "passages": [_CHUNK],
            "elements": [],
            "pages": [],
        }
    ],
    "citations": [{**_QUOTE, "found": True}],
}
