"""A row of a user's statement, whose values have places and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, overload


class TableRow(list[Any]):
    """Values, in the order of the columns: ``row["name"]`` is ``row[0]``, ``name, born = row`` works, and so does
    ``dict(row)``. It equals a list of the same values.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Sequence[str], values: Iterable[Any]) -> None:
        super().__init__(values)
        self._columns = columns

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> list[Any]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> Any:
        """Raises ``KeyError`` for a name that no column has."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self._columns:
            raise KeyError(f"{key!r} is none of the columns {', '.join(self._columns)}")
        return super().__getitem__(self._columns.index(key))

    def keys(self) -> Sequence[str]:
        """The names of the columns."""
        return self._columns

    def items(self) -> Iterator[tuple[str, Any]]:
        """Names with their values."""
        return zip(self._columns, self, strict=True)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a column; ``default`` where there is none of that name."""
        return self[name] if name in self._columns else default
