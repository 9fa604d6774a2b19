"""Users, tokens and rights, in a file that only its owner can read."""

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from kgplatform.errors import InputError
from kgplatform.interfaces.http.team.people import Grant, People, Person, Right
from kgplatform.workspaces import EVERYWHERE

ROOT = Grant(EVERYWHERE, "user:root", "admin")


@pytest.fixture
def people(tmp_path: Path) -> People:
    """Two users."""
    found = People(tmp_path / "people.json")
    assert found.add("root"), "the first one"
    assert found.grants == (ROOT,)
    assert not found.add("ann", ["legal", "board"])
    assert not found.add("bob")
    return found


def test_tokens_are_good_until_they_expire_or_are_revoked(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    people = People(tmp_path / "people.json", lambda: now)
    people.add("ann")
    made, other = people.token("ann", days=2), people.token("ann", days=3)
    text = (tmp_path / "people.json").read_text("utf-8")
    assert made.text not in text and made.text not in repr(made) and made.digest not in repr(made)
    assert (tmp_path / "people.json").stat().st_mode & 0o077 == 0
    assert [found.name for each in (made, other) if (found := people.by_token(each.text))] == ["ann", "ann"]
    for wrong in ("", made.text[:-1], made.text + " ", made.id, made.digest, "kg_" + "A" * 43, "\udcff"):
        assert people.by_token(wrong) is None
    now += timedelta(days=2)
    assert people.by_token(made.text) is None
    assert people.by_token(other.text) is not None
    People(tmp_path / "people.json").revoke(other.id)
    assert people.by_token(other.text) is None, "by another process, at once"
    with pytest.raises(InputError, match="There is no token"):
        people.revoke(other.id)


def test_rights_of_several_grants_add_up(people: People) -> None:
    people.grant("w1", "user:ann", "reader", "year > 2000")
    people.grant("w1", "group:legal", "reader", "department = legal")
    people.grant("w2", "group:board", "editor")
    people.grant("w2", "user:ann", "reader", "draft")
    people.grant(EVERYWHERE, "claim:team=ops", "admin")
    ann = people.by_token(people.token("ann").text)
    assert ann is not None
    assert ann.right_in("w1") == Right("reader", ("year > 2000", "department = legal"))
    assert ann.right_in("w2") == Right("editor")
    assert ann.right_in("w3") is None
    assert not ann.is_admin
    for claims, is_admin in (
        *(({"team": "ops"}, True), ({"team": ["x", "ops"]}, True), ({"team": "op"}, False)),
        *(({"team": {"of": "ops"}}, False), ({}, False)),
    ):
        found = people.signed_in("eve", (), claims, "session")
        assert (found.is_admin, found.right_in("w9") is not None) == (is_admin, is_admin)
    assert people.signed_in("ann", ("guests",), {}, "session").groups == ("legal", "board", "guests")
    people.grant("w5", "claim:realm.roles=legal", "reader")
    people.grant("w6", "claim:staff=true", "reader")
    told = people.signed_in("eve", (), {"realm": {"roles": ["x", "legal"]}, "staff": True}, "session")
    assert told.right_in("w5") == told.right_in("w6") == Right("reader")
    assert people.signed_in("eve", (), {"realm": ["legal"], "staff": "True"}, "session").right_in("w6") is None
    people.ungrant("w2", "group:board")
    assert Person("ann", ("board",), grants=people.grants).right_in("w2") == Right("reader", ("draft",))


def test_a_user_who_is_removed_leaves_nothing(people: People) -> None:
    people.grant("w1", "user:ann", "admin")
    token = people.token("ann")
    people.remove("ann")
    people.add("ann")
    assert people.by_token(token.text) is None
    assert people.grants == (ROOT,)
    for mistake in (lambda: people.remove("root"), lambda: people.ungrant(EVERYWHERE, "user:root")):
        with pytest.raises(InputError, match="Nobody would be an admin"):
            mistake()
    with pytest.raises(InputError, match="Nobody would be an admin"):
        people.grant(EVERYWHERE, "user:root", "editor")
    people.grant(EVERYWHERE, "group: ops", "admin")
    people.remove("root")
    assert people.grants == (Grant(EVERYWHERE, "group:ops", "admin"),)


@pytest.mark.parametrize(
    ("workspace", "who", "role", "where", "wrong"),
    [
        *(("w", "ann", "reader", "", "is nobody"), ("w", "user:", "reader", "", "is nobody")),
        *(("w", "role:ann", "reader", "", "is nobody"), ("w", "claim:team", "reader", "", "is nobody")),
        *(("w", "user:anna", "reader", "", "Did you mean ann"), ("w", "user:ann", "owner", "", "Unknown role")),
        ("w", "user:ann", "editor", "draft", "Only a reader"),
        ("w", "user:ann", "reader", "year >", "ends too early"),
    ],
)
def test_what_cannot_be_granted(people: People, workspace: str, who: str, role: str, where: str, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        people.grant(workspace, who, role, where)
    assert people.grants == (ROOT,)


def test_a_file_that_others_can_read_or_that_is_broken_lets_nobody_in(people: People) -> None:
    token = people.token("ann").text
    people.file.chmod(0o644)
    with pytest.raises(InputError, match="Others can read"):
        People(people.file).by_token(token)
    people.file.chmod(0o600)
    told = json.loads(people.file.read_text("utf-8"))
    for broken in ("", "[]", "{}", json.dumps({**told, "tokens": [{"id": "x"}]}), json.dumps({**told, "users": []})):
        people.file.write_text(broken, "utf-8")
        with pytest.raises(InputError, match="cannot be read"):
            People(people.file).by_token(token)
    for wrong in ("", "..", ".a", "a\u200b", "a\x07", "a b", "a:b", "a/b", 'a"b', "x" * 201):
        with pytest.raises(InputError, match=r"cannot be a name|cannot be read"):
            people.add(wrong)


def test_grants_are_told_apart_by_who_and_where(people: People) -> None:
    people.grant("w1", "user:ann", "reader", " draft ")
    people.grant("w1", "user:ann", "editor")
    people.grant("w1", "user:bob", "reader")
    assert people.grants == (ROOT, Grant("w1", "user:ann", "editor"), Grant("w1", "user:bob", "reader"))
