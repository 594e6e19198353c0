"""The library file: faces, what people said of them, and what is believed."""

from __future__ import annotations

import getpass
import json
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from . import _columns, _kith
from ._answers import Person, Question, Who
from ._progress import Progress, teller


class Library:
    """A library file of kith: the verbs of the program, with its rules and its locks.

    The file is opened for every call, so that the program and other processes may work on it meanwhile. What is said is
    on the disk when a method returns; one process at a time may learn or forget (``BlockingIOError`` otherwise).

    Parameters
    ----------
    path : path
        The file; the first :meth:`add` makes it.
    by : str or None
        Who says what is said; None is the name of the user.
    n_jobs : int or None
        Threads; None and -1 are one per core.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in (-4, 4)])
    >>> library = Library(pathlib.Path(tempfile.mkdtemp()) / "family.kith")
    >>> library.add(X, faces=[f"face {row}" for row in range(40)])["faces"]
    40
    >>> changes = library.learn(seed=1)
    >>> act = library.name("face 0", "Ann")
    >>> [(person.name, len(person.faces)) for person in library.people()]
    [('Ann', 20), (None, 20)]
    >>> library.who("face 7").name
    'Ann'
    >>> library.undo()
    [1]
    """

    def __init__(
        self, path: str | os.PathLike[str], *, by: str | None = None, n_jobs: int | None = None
    ) -> None:
        self.path = os.fsdecode(path)
        self.by = by
        self.n_jobs = n_jobs
        self._library = _kith.Library(self.path, _columns.n_threads(n_jobs))

    def __repr__(self) -> str:
        return f"Library({self.path!r})"

    def __len__(self) -> int:
        """How many faces there are, ignored ones included."""
        return self._library.n_faces()

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (self.path, self.by, self.n_jobs)

    # What was seen.

    def add(
        self,
        X: ArrayLike,
        y: Any | None = None,
        *,
        faces: Any | None = None,
        frames: Any | None = None,
        contexts: Any | None = None,
        times: Any | None = None,
        network: str | None = None,
    ) -> dict[str, int]:
        """Adds faces, all or none of them; those that are there already stay as they are.

        ``faces`` are ids by which they are spoken of; without them a face is called after its place in the library.
        ``times`` are RFC 3339, seconds, dates or ``datetime``. ``network`` says where the embeddings come from: a
        library holds those of one. The rest is as for :meth:`kith.Kith.fit`. Returns how many faces, frames and
        names are new.
        """
        X = _columns.floats(X)
        if faces is None:
            first = len(self) if os.path.exists(self.path) else 0
            faces = [str(first + row) for row in range(len(X))]
        keys = _columns.texts(faces, len(X), "faces")
        if None in keys:
            raise ValueError(f"faces: found no id at row {keys.index(None)}, wanted one per row")
        given = None if frames is None else _columns.texts(frames, len(X), "frames")
        of_row, of_frame = _columns.in_frames(given, contexts, len(X))
        names, when = _columns.names(y, len(X)), _columns.moments(times, len(X))
        told = []
        for number, rows in enumerate(_columns.by_frame(of_row, len(of_frame))):
            told.append(
                {
                    "key": None if given is None else given[rows[0]],
                    "time": when[rows[0]],
                    "context": of_frame[number],
                    "faces": [{"key": keys[row], "row": row, "name": names[row]} for row in rows],
                }
            )
        added: dict[str, int] = json.loads(self._library.add(X, json.dumps(told), network))
        return added

    def add_dataset(self, dataset: str | os.PathLike[str], *, network: str | None = None) -> dict[str, int]:
        """Adds the faces of a dataset of the program: a folder, a table or an archive."""
        added: dict[str, int] = json.loads(self._library.add_dataset(os.fspath(dataset), network))
        return added

    def add_photos(
        self,
        *paths: str | os.PathLike[str],
        context: str | None = None,
        models: str | os.PathLike[str] | None = None,
        progress: bool | Progress | None = None,
    ) -> dict[str, Any]:
        """Finds the faces on photos and adds them: files, or folders with all that is in them.

        What is known already is not looked at again, what moved is followed, what is gone is marked; names that other
        programs left with the photos become evidence. ``context`` is what photos of one occasion have in common:
        ``"place"``, ``"folder"``, ``"day"`` or ``"none"``; a library keeps its rule. ``models`` is the folder with the
        networks, which ``kith models get`` of the program fetches; without it they are looked for in ``KITH_MODELS``
        and where the program keeps them. Returns what became of the photos; ``bad`` says which cannot be read, and
        why. After Ctrl-C what was seen so far is kept.
        """
        folder = None if models is None else os.fspath(models)
        with teller(progress) as tell:
            told = self._library.add_photos([os.fspath(path) for path in paths], context, folder, tell)
        tally: dict[str, Any] = json.loads(told)
        return tally

    def look(
        self, photo: str | os.PathLike[str], *, models: str | os.PathLike[str] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Finds the faces on a photo without adding them: embeddings for :meth:`who_is_on`, and their boxes.

        A box is left, top, width and height in parts of the upright photo's sides.
        """
        folder = None if models is None else os.fspath(models)
        faces = json.loads(self._library.look(os.fspath(photo), folder))
        embeddings = np.array([face["embedding"] for face in faces], np.float32)
        return embeddings, np.array([face["box"] for face in faces], np.float32).reshape(-1, 4)

    # What is believed.

    def learn(
        self,
        sweeps: int | None = None,
        *,
        n_chains: int | None = None,
        seed: int | None = None,
        model: Any | None = None,
        progress: bool | Progress | None = None,
    ) -> dict[str, Any]:
        """Chains go on where they stopped, and people are made out anew. Returns what changed, in people's terms.

        After Ctrl-C what was learnt so far is kept. ``model`` is kept in the library.
        """
        _columns.check_count("sweeps", sweeps, at_least=1)
        _columns.check_count("n_chains", n_chains, at_least=1, at_most=_columns.MOST_CHAINS)
        _columns.check_count("seed", seed, at_least=0, at_most=2**64 - 1)
        if model is not None:
            self._library.set_model(_columns.model_tree(model))
        with teller(progress) as tell:
            changes: dict[str, Any] = json.loads(self._library.learn(sweeps, n_chains, seed, tell))
        if changes.pop("apart") and not changes["interrupted"]:
            place = "no R-hat" if changes["r_hat"] is None else f"R-hat {changes['r_hat']:.2f}"
            message = f"the chains do not agree yet ({place}, wanted below 1.05): learn again, they go on"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return changes

    def people(self) -> list[Person]:
        """Everybody: the named by name, then the familiar by how often they were seen, then strangers."""
        return [Person._of(told) for told in json.loads(self._library.people())]

    def who(self, face: str) -> Who:
        """Who a face of the library is, and why."""
        who: Who = Who._of(json.loads(self._library.who(str(face))))
        return who

    def who_is_on(self, X: ArrayLike, *, frames: Any | None = None, contexts: Any | None = None) -> list[Who]:
        """Who new faces are, and why; they are taken for one occasion and not added. One answer per row."""
        X = _columns.floats(X)
        of_row, of_frame = _columns.in_frames(frames, contexts, len(X))
        told = self._library.who_is_on(X, _columns.by_frame(of_row, len(of_frame)), of_frame)
        return [Who._of(one) for one in json.loads(told)]

    def ask(self, n: int = 1) -> list[Question]:
        """The questions whose answers are expected to help most, the best first."""
        _columns.check_count("n", n, at_least=1)
        return [Question(**question) for question in json.loads(self._library.ask(n))]

    # What is said. Each returns the number of the act, which undo() takes back.

    def name(self, face: str | None = None, name: str | None = None, *, person: int | None = None) -> int:
        """A face, or a person by the face that is most surely theirs, has this name."""
        if name is None or (face is None) == (person is None):
            raise ValueError("wanted a face and a name, or person= and name=")
        if person is not None:
            return self._library.name_person(self._speaker(), int(person), name)
        return self._library.say(self._speaker(), "name", str(face), None, name)

    def not_(self, face: str, name: str) -> int:
        """A face does not have this name. The verb `not` of the program."""
        return self._library.say(self._speaker(), "not", str(face), None, name)

    def same(self, face: str, other: str) -> int:
        """Two faces are the same person."""
        return self._library.say(self._speaker(), "same", str(face), str(other))

    def different(self, face: str, other: str) -> int:
        """Two faces are different people."""
        return self._library.say(self._speaker(), "different", str(face), str(other))

    def ignore(self, face: str) -> int:
        """A face is nobody's: a statue, a poster."""
        return self._library.say(self._speaker(), "ignore", str(face))

    def undo(self, n: int = 1) -> list[int]:
        """Takes back the last acts that people made by hand; returns them, the latest first."""
        _columns.check_count("n", n, at_least=1)
        return self._library.undo(self._speaker(), n)

    def redo(self) -> int | None:
        """Restores the act that was taken back last, unless something was said since."""
        return self._library.redo(self._speaker())

    def log(self) -> list[dict[str, Any]]:
        """What people said, oldest first; ``agreement`` is how probable it is that it is true."""
        entries: list[dict[str, Any]] = json.loads(self._library.log())
        return entries

    def forget(
        self,
        face: str | None = None,
        *,
        name: str | None = None,
        person: int | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Removes a face, everybody of a name, or a person, with every trace; ``dry_run`` only says what would go."""
        forgotten: dict[str, Any] = json.loads(self._library.forget(face, name, person, dry_run))
        return forgotten

    def _speaker(self) -> str:
        if self.by is not None:
            return self.by
        try:
            return getpass.getuser()
        except (OSError, KeyError):
            return "me"


def _open(path: str, by: str | None, n_jobs: int | None) -> Library:
    return Library(path, by=by, n_jobs=n_jobs)
