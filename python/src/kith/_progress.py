"""Telling how far work is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Called with what is done and the total.
Progress = Callable[[int, int], Any]


@contextmanager
def teller(progress: bool | Progress | None) -> Iterator[Progress | None]:
    """Nobody, whoever was given, or a bar of tqdm where that is installed."""
    if not progress:
        yield None
    elif callable(progress):
        yield progress
    else:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            yield None
            return
        with tqdm(total=1, unit="sweep") as bar:

            def tell(done: int, total: int) -> None:
                bar.total = total
                bar.n = done
                bar.refresh()

            yield tell
