"""What is answered about faces and people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class NameShare:
    """The probability of a name, with the 95 % highest-density interval over draws."""

    name: str
    p: float
    hdi: tuple[float, float]


@dataclass(frozen=True)
class Answer:
    """What is believed of one face. ``acquainted + familiar + stranger`` is 1, and so are all names together."""

    #: Someone seen before whose name is known.
    acquainted: float
    #: Someone seen before whose name is not known.
    familiar: float
    #: Someone never seen.
    stranger: float
    #: Every known name, the most probable first.
    names: tuple[NameShare, ...]
    #: The probability of a name that nobody has given.
    unknown_name: float
    #: The most probable person among those seen: how probable, and faces of theirs (rows, or ids of a library).
    identity_p: float
    identity_faces: tuple[Any, ...]
    #: The context of the frame, where it was in question: label and probability, the most probable first.
    context: tuple[tuple[str, float], ...] = ()

    @property
    def name(self) -> str | None:
        """The most probable name, where it is more probable than a name that nobody has given."""
        best = self.names[0] if self.names else None
        return best.name if best is not None and best.p > self.unknown_name else None

    @property
    def standing(self) -> str:
        """The most probable of "acquainted", "familiar" and "stranger"."""
        return max(
            ("acquainted", "familiar", "stranger"), key=lambda standing: float(getattr(self, standing))
        )

    @classmethod
    def _of(cls, told: dict[str, Any]) -> Any:
        told = dict(told)
        told["names"] = tuple(NameShare(name, p, (low, high)) for name, p, (low, high) in told["names"])
        told["identity_faces"] = tuple(told["identity_faces"])
        told["context"] = tuple((label, p) for label, p in told["context"])
        if "why" in told:
            told["why"] = tuple(Why(*why) for why in told["why"])
            told["person"] = None if told["person"] is None else tuple(told["person"])
        return cls(**told)


@dataclass(frozen=True)
class Why:
    """What speaks for one person against somebody never seen: logarithms of how many times more probable."""

    #: The id of a person of the library; None is somebody never seen.
    person: int | None
    p: float
    #: What the face says, what the context says, what people said.
    face: float
    context: float
    said: float


@dataclass(frozen=True)
class Who(Answer):
    """What a library believes of one face, and why."""

    #: A person of the library, and how probable that is.
    person: tuple[int, float] | None = None
    why: tuple[Why, ...] = ()


@dataclass(frozen=True)
class Person:
    """A person of a library."""

    #: An id that survives learning.
    id: int
    name: str | None
    name_p: float
    #: The ids of their faces, each with how sure it is, the most certain first.
    faces: tuple[tuple[str, float], ...]
    #: "named", "familiar" or "stranger".
    standing: str
    #: How often in which context.
    contexts: dict[str, int] = field(default_factory=dict)
    #: The earliest and the latest time of their frames.
    seen: tuple[str, str] | None = None
    #: What does not fit.
    conflicts: tuple[str, ...] = ()

    @classmethod
    def _of(cls, told: dict[str, Any]) -> Person:
        told = dict(told)
        told["faces"] = tuple((key, p) for key, p in told["faces"])
        told["seen"] = None if told["seen"] is None else tuple(told["seen"])
        told["conflicts"] = tuple(told["conflicts"])
        return cls(**told)


@dataclass(frozen=True)
class Question:
    """Something to ask a person: who is ``face``, or whether ``face`` and ``other`` are the same."""

    #: "who" or "same".
    ask: str
    face: str
    #: How many more faces the answer is expected to have named right.
    gain: float
    other: str | None = None
    #: How probable it is that they are the same.
    p: float | None = None
