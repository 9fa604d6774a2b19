"""A Ray cluster that is not there, or not installed, is one sentence."""

from __future__ import annotations

import socket
import sys

import pytest

from kgplatform.concurrency.workers import RayWorkers
from kgplatform.errors import SettingError


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SettingError, match=r"Ray is not installed\. .*install .*ray>="):
        RayWorkers("local")


def test_an_address_where_nobody_listens_is_said_at_once() -> None:
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(SettingError, match=f"No Ray cluster listens at {address}"):
        RayWorkers(address)
