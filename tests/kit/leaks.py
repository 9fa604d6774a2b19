"""Requests of somebody who may see a part of a workspace, and what the answers give away of the rest.

The same requests go to a workspace that has these documents alone. A leak is a secret in an answer whose request did
not have it, or any difference between the two answers but for times and the database's own name: so a count or an order
gives nothing away either.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from read_sentences import NAMES, PREDICATES, SentenceReader, sentences
from teams import TOKEN, Team, fill

from kgplatform.sources.objects import Text
from kgplatform.workspaces import Workspaces

SECRETS = ("Zenobia Quillfeather", "Xanadu Vault", "Nightjar", "Quetzal Engine", "Vortigern", "4711983")
SECRET_TITLES = ("Operation Nightjar", "Quetzal file", "Ledger 4711983")
PART = "level < 9"
_ROUTES = ("all", "entity", "triple", "path", "community", "passage", "bm25", "dense", "hybrid", "no-such-route")
_CONDITIONS = (
    "level < 5",
    "level = 9",
    "codeword = x",
    'title = "Operation Nightjar"',
    "levle = 1",
    "level >",
    "folder = x",
)
_LISTS = (
    *("about", "stats", "schema", "schema/figures", "questions", "documents", "metadata", "document-page"),
    "graph/map",
    "conflicts",
    *("corrections/namesakes", "tree", "communities", "runs", "runs/recheck", "threads", "jobs", "saved-queries"),
    *("openapi.json", "health"),
)
_CHANGES = frozenset(
    (
        *("seconds", "seconds_per_call", "graph", "browser_url", "created", "id_of_run"),
        *("added_at", "addedAt", "modified_at", "modifiedAt"),
    )
)
"""What may differ: times, and which database it is."""

Request = tuple[str, str, dict[str, Any]]
"""Method, path, and what httpx takes beside."""


@dataclass(frozen=True, slots=True)
class Sides:
    """A reader of a part, and a reader of a workspace that has nothing else; ``ids``: of everything there is in all."""

    part: httpx.Client
    alone: httpx.Client
    ids: list[str]

    def leak(self, request: Request) -> str:
        """What the answer to ``request`` gives away; empty where it gives away nothing."""
        method, path, more = request
        answers = [client.request(method, path, **more) for client in (self.part, self.alone)]
        asked = json.dumps([path, more], ensure_ascii=False).casefold()
        text = answers[0].text.casefold()
        for secret in (*SECRETS, *SECRET_TITLES):
            if secret.casefold() in text and not any(word in asked for word in secret.casefold().split()):
                return f"has {secret}"
        told = [(each.status_code, _without_times(_parsed(each))) for each in answers]
        return "" if told[0] == told[1] else f"differs: {_first_difference(*told)}"


def build(folder: Path, seed: int) -> None:
    """Two workspaces: all documents, and the open ones alone. What is closed says things of open names, too."""
    chance = random.Random(seed)
    texts = [Text(sentences(chance, 3), f"Note {n}", id=f"note-{n}", metadata={"level": n % 5}) for n in range(5)]
    closed = []
    for number, title in enumerate(SECRET_TITLES):
        secret = SECRETS[number]
        said = " ".join(
            f'"{secret}" (Person) {chance.choice(PREDICATES)} "{chance.choice(NAMES)}" (Ship). '
            f'"{chance.choice(NAMES)}" (Deity) has the motto [{SECRETS[-1 - number]}].'
            for _ in range(3)
        )
        metadata = {"level": 9, "codeword": SECRETS[2]}
        closed.append(Text(f"{said} {sentences(chance, 3)}", title, id=f"closed-{number}", metadata=metadata))
    how = {"extractor": SentenceReader(), "schema": "general"}
    fill(Workspaces(folder), "whole", [*texts, *closed], **how)
    fill(Workspaces(folder), "alone", texts, **how)


def sides_of(made: Team) -> Sides:
    """The two readers of a server over what ``build`` made."""
    part = made.client(made.token("part", ("whole", "reader", PART)), "whole")
    alone = made.client(made.token("alone", ("alone", "reader")), "alone")
    with made.client(TOKEN, "whole") as admin:
        rows = admin.post(
            "/api/cypher", json={"statement": "MATCH (n) WHERE n.id IS NOT NULL RETURN n.id", "limit": 10000}
        )
        ids = [row[0] for row in rows.json()["rows"]]
    return Sides(part, alone, ids)


def requests(chance: random.Random, ids: list[str]) -> Iterator[Request]:
    """Requests without end, about what is open and what is not."""
    while True:
        name = chance.choice((*NAMES, *SECRETS, *SECRETS, *SECRET_TITLES))
        word = name[: chance.randint(1, len(name))]
        node, other = chance.choice(ids), chance.choice(ids)
        question = chance.choice(
            ("Who is {}?", "Who founded {}?", "What is the motto of {}?", "{}", "What do you know?")
        )
        asked = {"question": question.format(name), "top_k": chance.randint(1, 30), "route": chance.choice(_ROUTES)}
        if chance.random() < 0.3:
            asked["where"] = chance.choice(_CONDITIONS)
        yield chance.choice(
            (
                ("GET", f"/api/{chance.choice(_LISTS)}", {}),
                ("GET", "/api/graph/find", {"params": {"text": word, "limit": chance.randint(1, 50)}}),
                ("POST", "/api/search", {"json": asked}),
                ("POST", "/api/search", {"json": asked}),
                (
                    "POST",
                    "/api/ask",
                    {"json": {"question": asked["question"], "reader": chance.choice(("retrieve", "bm25"))}},
                ),
                ("GET", f"/api/graph/nodes/{quote(node, safe='')}", {}),
                ("GET", f"/api/graph/neighbours/{quote(node, safe='')}", {"params": {"limit": chance.randint(1, 60)}}),
                ("GET", f"/api/graph/profile/{quote(node, safe='')}", {}),
                ("GET", "/api/graph/ways", {"params": {"source": node, "target": other}}),
                ("POST", "/api/graph/subgraph", {"json": {"ids": chance.sample(ids, min(len(ids), 20))}}),
                ("GET", "/api/tree", {"params": {"parent": node}}),
                ("GET", f"/api/communities/{quote(node, safe='')}", {}),
                ("GET", "/api/graph/map", {"params": {"document": node, "least": chance.randint(0, 3)}}),
                (
                    "GET",
                    "/api/graph/map",
                    {"params": {chance.choice(("where", "metadata")): chance.choice(_CONDITIONS)}},
                ),
                ("GET", f"/api/documents/{quote(chance.choice((node, 'closed-0', 'note-1')), safe='')}", {}),
                ("GET", "/api/document-page", {"params": {"text": word, "sort": chance.choice(("title", "facts"))}}),
                ("GET", f"/api/runs/{quote(node, safe='')}", {}),
                ("GET", "/v1/models", {}),
            )
        )


def _parsed(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return response.text


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_times(each) for name, each in value.items() if name not in _CHANGES}
    if isinstance(value, list):
        return [_without_times(each) for each in value]
    return round(value, 5) if isinstance(value, float) else value


def _first_difference(one: Any, other: Any, at: str = "") -> str:
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return next(_first_difference(one[key], other[key], f"{at}.{key}") for key in one if one[key] != other[key])
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for number, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            if mine != theirs:
                return _first_difference(mine, theirs, f"{at}[{number}]")
    return f"{at}: {str(one)[:200]} / {str(other)[:200]}"
