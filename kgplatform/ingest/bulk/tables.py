"""The files that the importer reads: of each kind of node, and of each type of relationship, one.

Texts stand in quotes, quotes in them are doubled; an empty cell is no value, two quotes are an empty text. The items of
a list are parted by U+001F, which is white space and so in no name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

ITEM_END = "\x1f"
_BUFFER = 2**20

STATE = {
    **{
        "state": "string",
        "failure": "string",
        "unreadBy": "string",
        "kept": "long",
        "mapped": "long",
        "dropped": "long",
    },
    **{"offSchema": "long", "turned": "long", "unnamed": "long", "found": "long", "notFound": "long"},
    **{"duplicates": "long", "leftOut": "string", "seed": "string", "boundBy": "string"},
    **{"malformedKinds": "string[]", "malformedCounts": "long[]", "factsBy": "string"},
}
"""What a passage gets when it was read, and the types of that."""

_PLACED = "id:string,name:string,text:string,index:long,start:long,end:long,page:long,tokens:long"
_LOCATED = "location:string,locations:string[],locationStarts:long[]"
_STATED = "id:string,kind:string,name:string,text:string"
_ENDS = ":START_ID,:END_ID"
NODES = {
    "documents": (
        "Document",
        "id:string,name:string,key:string,uri:string,source:string,sha256:string,characters:long,tokens:long,"
        "language:string,addedAt:datetime",
    ),
    "passages": ("Chunk:Pending", ",".join([_PLACED, _LOCATED, *(f"{name}:{kind}" for name, kind in STATE.items())])),
    "entities": (
        "",
        ":LABEL,id:string,name:string,key:string,stem:string,nameWords:string,consonants:string,type:string,"
        "inSchema:boolean",
    ),
    "key-elements": ("KeyElement:Pending", "id:string,name:string,key:string,stem:string"),
    "attributes": ("Attribute", "id:string,name:string,key:string,value:string"),
    "facts": ("Fact:Pending", f"{_STATED},subject:string,predicate:string,object:string,inSchema:boolean"),
    "atomic-facts": ("Fact", _STATED),
    "proposed-types": ("ProposedType", "id:string,kind:string,name:string"),
}
"""The files of nodes: their labels, where all have the same, and their columns after the number."""
RELATIONSHIPS = {
    "from-document": ("FROM_DOCUMENT", _ENDS),
    "next-chunk": ("NEXT_CHUNK", _ENDS),
    "named-by": ("FROM_CHUNK", f"{_ENDS},count:long,names:string[]"),
    "stated-by": ("FROM_CHUNK", f"{_ENDS},start:long,end:long,found:boolean"),
    "subject": ("SUBJECT", _ENDS),
    "object": ("OBJECT", _ENDS),
    "value": ("VALUE", _ENDS),
    "has-attribute": ("HAS_ATTRIBUTE", _ENDS),
    "mentions": ("MENTIONS", _ENDS),
    "proposed": ("PROPOSED", f"{_ENDS},words:string,confidence:double,example:string"),
    "relations": ("", f"{_ENDS},:TYPE,fact:string,predicate:string,weight:long"),
}


class Table:
    """A file of rows, its columns in the first line."""

    def __init__(self, folder: Path, name: str, kind: str, columns: str) -> None:
        self.name = f"{name}.csv"
        self.kind = kind
        self.rows = 0
        self._stream = (folder / self.name).open("w", _BUFFER, encoding="utf-8", newline="")
        self._stream.write(f"{columns}\n")

    def write(self, lines: Sequence[str]) -> None:
        """Append ``lines``, which end with line ends."""
        self.rows += len(lines)
        self._stream.write("".join(lines))

    def close(self) -> None:
        """Write what is held back."""
        self._stream.close()


class Tables:
    """All files, open in ``folder``, by their names without ending."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._nodes = {name: Table(folder, name, kind, f":ID,{columns}") for name, (kind, columns) in NODES.items()}
        self._relationships = {name: Table(folder, name, *each) for name, each in RELATIONSHIPS.items()}

    def __enter__(self) -> Tables:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for table in self._all():
            table.close()

    def __getitem__(self, name: str) -> Table:
        return self._nodes[name] if name in self._nodes else self._relationships[name]

    @property
    def nodes(self) -> list[Table]:
        """The files of nodes that have any."""
        return [table for table in self._nodes.values() if table.rows]

    @property
    def relationships(self) -> list[Table]:
        """The files of relationships that have any."""
        return [table for table in self._relationships.values() if table.rows]

    @property
    def size(self) -> int:
        """Bytes of all files, once they are closed."""
        return sum((self.folder / table.name).stat().st_size for table in self._all())

    def _all(self) -> list[Table]:
        return [*self._nodes.values(), *self._relationships.values()]
