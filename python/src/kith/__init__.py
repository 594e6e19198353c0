"""Who is who from faces, mostly unnamed, with probabilities that can be trusted.

:class:`Kith` is an estimator for arrays of embeddings, :class:`Library` a file that keeps faces and what was said
of them, :mod:`kith.plots` shows both.

>>> import numpy as np, kith
>>> rng = np.random.default_rng(0)
>>> X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in (-4, 0, 4)])
>>> est = kith.Kith(random_state=1).fit(X)
>>> est.n_identities_
3
>>> est.predict([[4.1, 3.9], [40.0, -40.0]])
array([ 2, -1])
"""

from typing import Any

from ._answers import Answer, NameShare, Person, Question, Who, Why
from ._columns import embeddings
from ._estimator import Kith
from ._kith import __version__
from ._library import Library

__all__ = [
    "Answer",
    "Kith",
    "Library",
    "NameShare",
    "Person",
    "Question",
    "Who",
    "Why",
    "__version__",
    "embeddings",
]


def __getattr__(name: str) -> Any:
    """`kith.plots`, which needs matplotlib, is read when it is asked for."""
    if name == "plots":
        import importlib

        return importlib.import_module("kith.plots")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
