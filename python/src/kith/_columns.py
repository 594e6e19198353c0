"""Columns as people have them, lists, arrays, tables, as the binding takes them."""

from __future__ import annotations

import datetime
import json
import numbers
import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: As the program has it.
MOST_CHAINS = 1000


def embeddings(column: Any) -> NDArray[np.float32]:
    """An array (n_faces, dimension) from a column of a table whose cells are lists or arrays.

    Tables of one column per number, arrays and nested lists are taken as they are.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"embedding": [[1.0, 2.0], [3.0, 4.0]]})
    >>> embeddings(table["embedding"])
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.dtype == object and values.ndim == 1:
        nothing = [row for row, cell in enumerate(values) if cell is None]
        if nothing:
            raise ValueError(f"row {nothing[0]}: found nothing, wanted an embedding")
        rows = [np.asarray(row, dtype=np.float32).ravel() for row in values]
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            raise ValueError(f"found embeddings of {sorted(lengths)} numbers, wanted one length")
        values = np.stack(rows) if rows else np.empty((0, 0), np.float32)
    return np.ascontiguousarray(values, dtype=np.float32)


def bare(X: Any) -> Any:
    """A table as a bare array: columns of embeddings have no names worth keeping, and a column of lists is many."""
    if not hasattr(X, "to_numpy") or isinstance(X, np.ndarray):
        return X
    values = X.to_numpy()
    if values.dtype == object and values.size == len(values) > 0:
        column = values.reshape(-1)
        if isinstance(column[0], (list, tuple, np.ndarray)):
            return embeddings(column)
    return values


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, (str, bytes)) and not value):
        return True
    try:
        # NaN, NaT and pandas' NA are not equal to themselves.
        return not bool(value == value)
    except (TypeError, ValueError):
        return True


def cells(column: Any, n_rows: int, what: str) -> list[Any]:
    """One cell per row; what is missing is None."""
    if isinstance(column, (str, bytes)):
        raise ValueError(f"{what}: found one text, wanted one entry per row")
    if not isinstance(column, Iterable):
        raise ValueError(f"{what}: found a {type(column).__name__}, wanted one entry per row")
    values = list(column.tolist() if hasattr(column, "tolist") else column)
    if len(values) != n_rows:
        raise ValueError(f"{what}: found {len(values)} entries, wanted {n_rows}, one per row of X")
    return [None if _is_missing(value) else value for value in values]


def texts(column: Any | None, n_rows: int, what: str) -> list[str | None]:
    """One text or None per row."""
    if column is None:
        return [None] * n_rows
    found = [None if value is None else _text(value) for value in cells(column, n_rows, what)]
    for row, text in enumerate(found):
        check_text(text, f"{what}: row {row}")
    return found


def check_text(text: str | None, what: str) -> None:
    """Refuses what is no Unicode text, as names of files may be."""
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what}: found {text!r}, wanted a text that can be written as UTF-8") from None


def moments(column: Any | None, n_rows: int) -> list[str | None]:
    """Times as a library keeps them, RFC 3339 or seconds: from either, from dates, and from Python's own."""
    if column is None:
        return [None] * n_rows
    return [None if value is None else _moment(value) for value in cells(column, n_rows, "times")]


def _moment(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        return value.isoformat() + ("" if value.tzinfo else "Z")
    text = _text(value)
    try:
        if not re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", text):
            datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"times: found {text!r}, wanted RFC 3339, seconds or a date") from None
    return f"{text}T00:00:00Z" if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else text


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def names(y: Any | None, n_rows: int) -> list[str | None]:
    """Names: None, NaN, "" and -1 are faces without one, numbers are names by number."""
    found = texts(np.ravel(y) if isinstance(y, np.ndarray) else y, n_rows, "y")
    return [None if name == "-1" else name for name in found]


def in_frames(frames: Any | None, contexts: Any | None, n_rows: int) -> tuple[list[int], list[str | None]]:
    """The number of each row's frame, by first appearance, and the context of each frame."""
    context_of_row = texts(contexts, n_rows, "contexts")
    if frames is None:
        return list(range(n_rows)), context_of_row
    numbers: dict[Any, int] = {}
    of_row: list[int] = []
    of_frame: list[str | None] = []
    for row, key in enumerate(cells(frames, n_rows, "frames")):
        if isinstance(key, (list, dict, set)):
            raise ValueError(f"frames: found a {type(key).__name__} at row {row}, wanted a text or a number")
        # A face without a frame is alone in one.
        key = ("alone", row) if key is None else ("frame", key)
        number = numbers.setdefault(key, len(numbers))
        context = context_of_row[row]
        if number == len(of_frame):
            of_frame.append(context)
        elif of_frame[number] != context:
            raise ValueError(
                f"contexts: found {context!r} at row {row}, wanted {of_frame[number]!r} as in the rest of frame {key[1]!r}"
            )
        of_row.append(number)
    return of_row, of_frame


def check_together(frames: Any, n_rows: int) -> None:
    """Faces are taken in frame by frame, so the rows of a frame follow each other."""
    gone, last = set(), None
    for row, key in enumerate(cells(frames, n_rows, "frames")):
        if key is not None and key in gone and key != last:
            found = f"frames: found {key!r} again at row {row}"
            raise ValueError(f"{found}, wanted the rows of a frame side by side")
        gone.add(key)
        last = key


def n_threads(n_jobs: Any | None) -> int:
    """How many threads `n_jobs` asks for; 0 is one per core."""
    if n_jobs is None:
        return 0
    if not isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs: found {n_jobs!r}, wanted a whole number or None")
    # More than cores are of no use; thousands of threads would only stand in each other's way.
    return min(max(int(n_jobs), 0), 4 * (os.cpu_count() or 1))


def check_count(name: str, value: Any, *, at_least: int, at_most: int | None = None) -> None:
    """Refuses what is no whole number within limits; None is whatever is usual."""
    if value is None and name not in ("draws", "n"):
        return
    most = 2**63 - 1 if at_most is None else at_most
    if not isinstance(value, numbers.Integral) or not at_least <= int(value) <= most:
        limits = f"of at least {at_least}" + ("" if at_most is None else f" and at most {at_most}")
        raise ValueError(f"{name}: found {value!r}, wanted a whole number {limits}")


def by_frame(of_row: Sequence[int], n_frames: int) -> list[list[int]]:
    """The rows of each frame."""
    rows: list[list[int]] = [[] for _ in range(n_frames)]
    for row, frame in enumerate(of_row):
        rows[frame].append(row)
    return rows


def people(labels: Iterable[Any]) -> list[list[int]]:
    """The rows of each person; rows without a label are nobody's."""
    rows: dict[Any, list[int]] = {}
    for row, label in enumerate(labels):
        if not _is_missing(label):
            rows.setdefault(label, []).append(row)
    return list(rows.values())


def model_tree(model: Any | None) -> str:
    """The keys of a MODEL.toml as JSON: from a file, a dict, or nothing."""
    if model is None:
        return "{}"
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb") as file:
            model = tomllib.load(file)
    if not isinstance(model, dict):
        raise ValueError(f"model: found a {type(model).__name__}, wanted a dict or the path of a MODEL.toml")
    try:
        return json.dumps(model, default=_plain, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"model: found {error}; wanted finite numbers") from None


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"model: found a {type(value).__name__}, wanted numbers and texts")


def floats(X: ArrayLike) -> NDArray[np.float32]:
    """C-ordered float32 in two dimensions; nothing is copied that is so already."""
    with np.errstate(over="ignore"):
        # What is too large for float32 is infinite, and refused.
        array = np.ascontiguousarray(bare(X), dtype=np.float32)
    if array.ndim != 2:
        raise ValueError(f"found an array of {array.ndim} dimensions, wanted 2: a row per face")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(f"row {row}: found {array[row, column]} at column {column}, wanted a finite number")
    return array
