"""The processes that parse files for this one."""

from contextlib import suppress

import psutil


def children(*, recursive: bool = False) -> list[psutil.Process]:
    """Those that run, also below workers where ``recursive``."""
    found = []
    for each in psutil.Process().children(recursive=recursive):
        with suppress(psutil.NoSuchProcess):  # as a zombie is, too
            if "serve_within" in " ".join(each.cmdline()):
                found.append(each)
    return found
