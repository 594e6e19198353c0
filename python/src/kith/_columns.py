"""Columns as people have them, lists, arrays, tables, as the binding takes them."""

from __future__ import annotations

import datetime
import json
import os
import re
import tomllib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


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
        rows = [np.asarray(row, dtype=np.float32).ravel() for row in values]
        lengths = {len(row) for row in rows}
        if len(lengths) > 1:
            raise ValueError(f"found embeddings of {sorted(lengths)} numbers, wanted one length")
        values = np.stack(rows) if rows else np.empty((0, 0), np.float32)
    return np.ascontiguousarray(values, dtype=np.float32)


def bare(X: Any) -> Any:
    """A table as a bare array: the columns of embeddings have no names worth keeping."""
    return X.to_numpy() if hasattr(X, "to_numpy") and not isinstance(X, np.ndarray) else X


def _is_missing(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value == ""):
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
    values = list(column.tolist() if hasattr(column, "tolist") else column)
    if len(values) != n_rows:
        raise ValueError(f"{what}: found {len(values)} entries, wanted {n_rows}, one per row of X")
    return [None if _is_missing(value) else value for value in values]


def texts(column: Any | None, n_rows: int, what: str) -> list[str | None]:
    """One text or None per row."""
    if column is None:
        return [None] * n_rows
    return [None if value is None else _text(value) for value in cells(column, n_rows, what)]


def moments(column: Any | None, n_rows: int) -> list[str | None]:
    """Times as a library keeps them, RFC 3339 or seconds: from either, from dates, and from Python's own."""
    if column is None:
        return [None] * n_rows
    return [None if value is None else _moment(value) for value in cells(column, n_rows, "times")]


def _moment(value: Any) -> str:
    if isinstance(value, datetime.datetime):
        return value.isoformat() + ("" if value.tzinfo else "Z")
    text = _text(value)
    return f"{text}T00:00:00Z" if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else text


def _text(value: Any) -> str:
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
    return json.dumps(model, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"model: found a {type(value).__name__}, wanted numbers and texts")


def floats(X: ArrayLike) -> NDArray[np.float32]:
    """C-ordered float32 in two dimensions; nothing is copied that is so already."""
    array = np.ascontiguousarray(bare(X), dtype=np.float32)
    if array.ndim != 2:
        raise ValueError(f"found an array of {array.ndim} dimensions, wanted 2: a row per face")
    return array
