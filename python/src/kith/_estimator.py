"""The estimator: people in an array of embeddings."""

from __future__ import annotations

import json
import numbers
import os
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _columns
from ._answers import Answer
from ._kith import Belief, Faces
from ._progress import Progress, teller

_STANDINGS = np.array(["acquainted", "familiar", "stranger"])


class Kith(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """People in an array of embeddings, most of them without a name.

    A Bayesian nonparametric mixture: how many people there are is learnt, every answer is a probability, and somebody
    never seen is always one of the answers.

    Parameters
    ----------
    model : dict, path or None
        Settings as in a MODEL.toml, for example ``{"face": {"kind": "isotropic"}}``; all keys are optional.
    background : (array, labels) or None
        Embeddings of other people of the same network who are known, to learn from what faces look like in general.
    n_chains : int or None
        Independent chains: 4, or 8 where ``sweeps`` is given.
    sweeps, burn_in, thin : int or None
        How many sweeps each chain makes, how many of the first are dropped, and every how many one is kept. Without
        ``sweeps``, chains go on until they agree or clearly will not.
    draws : int
        How many draws of each chain are kept at most, where ``sweeps`` is not given.
    start : str, list of str or None
        Where chains start: "sequential", "together", "apart" or "random"; a list is dealt over the chains. ``None`` is
        all four, or "sequential" of more than 10,000 faces and where identities have no covariances.
    random_state : int, RandomState or None
        An int is the seed of the program: the same seed makes the same draws as ``kith fit --seed``.
    n_jobs : int or None
        Threads; None and -1 are one per core. Results do not depend on it.
    progress : bool, callable or None
        True shows a bar (with tqdm); a callable is called with what is done and the total.

    Attributes
    ----------
    labels_ : array of int
        The person of each row, numbered by first appearance: the partition with the least expected variation of
        information over the draws.
    certainty_ : array of float
        How sure each row's place is.
    n_identities_ : int
        How many people ``labels_`` has.
    names_ : array of str
        The names that were given.
    people_ : list of (str, float) or None
        Per person of ``labels_`` the name and its probability, where one is more probable than not.
    r_hat_ : float or None
        The larger split R-hat of ln joint and of the number of people, where chains were to agree.
    n_sweeps_ : int
        How many sweeps each chain has made.
    interrupted_ : bool
        Whether the last learning was stopped before its end.

    Examples
    --------
    >>> import numpy as np
    >>> from kith import Kith
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (20, 2)) for c in (-4, 0, 4)])
    >>> y = ["Ann"] + [None] * 19 + ["Ben"] + [None] * 39
    >>> est = Kith(random_state=1).fit(X, y)
    >>> est.n_identities_, list(est.names_)
    (3, ['Ann', 'Ben'])
    >>> new = [[-4, -4], [4, 4], [30, -30]]
    >>> list(est.predict(new)), list(est.predict_names(new))
    ([np.int64(0), np.int64(2), np.int64(-1)], ['Ann', None, None])
    >>> list(est.predict_standing(new))
    [np.str_('acquainted'), np.str_('familiar'), np.str_('stranger')]
    """

    def __init__(
        self,
        *,
        model: dict[str, Any] | str | os.PathLike[str] | None = None,
        background: tuple[ArrayLike, ArrayLike] | None = None,
        n_chains: int | None = None,
        sweeps: int | None = None,
        burn_in: int | None = None,
        thin: int | None = None,
        draws: int = 100,
        start: str | list[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        progress: bool | Progress | None = None,
    ) -> None:
        self.model = model
        self.background = background
        self.n_chains = n_chains
        self.sweeps = sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.draws = draws
        self.start = start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    # Learning.

    def fit(
        self,
        X: ArrayLike,
        y: Any | None = None,
        *,
        frames: Any | None = None,
        contexts: Any | None = None,
        times: Any | None = None,
    ) -> Self:
        """Learns who is who, from nothing.

        Parameters
        ----------
        X : array (n_faces, dimension)
        y : names, one per row, or None
            A text is a name that somebody gave, perhaps wrongly; None, NaN, "" and -1 are faces without one. Other
            numbers are names by number.
        frames : one entry per row, or None
            Rows of the same entry are on one photo, and hardly ever the same person.
        contexts : one text or None per row
            Where the photo was taken: equal within a frame.
        times : one entry per row, or None
            Kept for :func:`kith.plots.timeline`; nothing is learnt from them.

        After Ctrl-C the draws made so far are kept: ``interrupted_`` is then true, and :meth:`learn` goes on.
        """
        faces, n_rows = self._faces(X, y, frames, contexts, reset=True)
        when = None if times is None else _columns.cells(times, n_rows, "times")
        belief = Belief(self._options(), self._n_threads())
        background = self._known_people()
        self._work(belief, lambda tell: belief.fit(faces, background, tell), when)
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: Any | None = None,
        *,
        frames: Any | None = None,
        contexts: Any | None = None,
        times: Any | None = None,
    ) -> Self:
        """Takes in more faces at a cost that does not grow with those that were seen before; arguments as for
        :meth:`fit`. Faces of one frame come in one call, in rows that follow each other. After Ctrl-C the first of
        them are in. :meth:`learn` looks at all faces again.
        """
        before = self._belief_or_none()
        faces, n_rows = self._faces(X, y, frames, contexts, reset=before is None)
        if frames is not None:
            _columns.check_together(frames, n_rows)
        belief = before or Belief(self._options(), self._n_threads())
        n_before = len(before.labels()) if before else 0
        when = self._all_times(n_before, times, n_rows)
        self._work(belief, lambda tell: belief.see(faces, tell), when)
        return self

    def learn(self, sweeps: int | None = None) -> Self:
        """Goes on learning from all faces: so many sweeps of each chain, or until the chains agree."""
        belief = self._fitted()
        _columns.check_count("sweeps", sweeps, at_least=1)
        self._work(belief, lambda tell: belief.learn(sweeps, tell), self._times)
        return self

    def fit_predict(self, X: ArrayLike, y: Any | None = None, **kwargs: Any) -> NDArray[np.int64]:
        """:meth:`fit`, then ``labels_``; takes what :meth:`fit` takes."""
        return self.fit(X, y, **kwargs).labels_

    # Asking. Each row is looked at by itself, whatever else is asked with it.

    def predict(self, X: ArrayLike, *, contexts: Any | None = None) -> NDArray[np.int64]:
        """The most probable person of each row, as ``labels_`` numbers them; -1 is somebody never seen."""
        labels: NDArray[np.int64] = self._asked("predict_labels", X, contexts)
        return labels

    def predict_proba(self, X: ArrayLike, *, contexts: Any | None = None) -> NDArray[np.float64]:
        """The probability of each person of ``labels_`` and, last, of somebody never seen; rows sum to 1.

        Draws have different people. One of them counts for each person shown with the share of its faces there.
        """
        return self._asked("predict", X, contexts)

    def predict_standing(self, X: ArrayLike, *, contexts: Any | None = None) -> NDArray[np.str_]:
        """The most probable of "acquainted" (seen, name known), "familiar" (seen, no name) and "stranger"."""
        best = np.argmax(self._asked("predict_names", X, contexts)[:, :3], axis=1)
        standings: NDArray[np.str_] = _STANDINGS[best]
        return standings

    def predict_names(self, X: ArrayLike, *, contexts: Any | None = None) -> NDArray[np.object_]:
        """The most probable name of each row; None where a name that nobody has given is more probable."""
        p = self.predict_name_proba(X, contexts=contexts)
        # Where two are as probable, no name: the last column comes first.
        best = p.shape[1] - 1 - np.argmax(p[:, ::-1], axis=1)
        names: NDArray[np.object_] = np.array([*self.names_, None], dtype=object)[best]
        return names

    def predict_name_proba(self, X: ArrayLike, *, contexts: Any | None = None) -> NDArray[np.float64]:
        """The probability of each of ``names_`` and, last, of a name that nobody has given; rows sum to 1."""
        return self._asked("predict_names", X, contexts)[:, 3:]

    def stranger_odds(self, X: ArrayLike, *, contexts: Any | None = None) -> NDArray[np.float64]:
        """Per draw and row, the logarithm of how many times more probable somebody never seen is than anybody seen."""
        return self._asked("stranger_odds", X, contexts).T

    def who(self, X: ArrayLike, *, frames: Any | None = None, contexts: Any | None = None) -> list[Answer]:
        """Full answers, one per row. Rows of one frame are answered jointly, each frame by itself."""
        return self._who(X, frames, contexts, together=False)

    def who_together(
        self, X: ArrayLike, *, frames: Any | None = None, contexts: Any | None = None
    ) -> list[Answer]:
        """Full answers about all rows as one occasion, as ``kith predict`` gives them: who is on the other photos tells
        who is on this one, and how many strangers there are is learnt from all of them.
        """
        return self._who(X, frames, contexts, together=True)

    def _who(self, X: ArrayLike, frames: Any, contexts: Any, *, together: bool) -> list[Answer]:
        belief, faces = self._fitted(), self._new(X)
        of_row, of_frame = _columns.in_frames(frames, contexts, len(faces))
        rows = _columns.by_frame(of_row, len(of_frame))
        return [Answer._of(told) for told in json.loads(belief.who(faces, rows, of_frame, together))]

    # What was learnt.

    @property
    def labels_(self) -> NDArray[np.int64]:
        return self._fitted_attribute().labels()

    @property
    def certainty_(self) -> NDArray[np.float64]:
        return self._fitted_attribute().certainty()

    @property
    def people_(self) -> list[tuple[str, float] | None]:
        return self._fitted_attribute().people()

    @property
    def n_identities_(self) -> int:
        return len(self._fitted_attribute().people())

    @property
    def names_(self) -> NDArray[np.object_]:
        return np.array(self._fitted_attribute().names(), dtype=object)

    @property
    def r_hat_(self) -> float | None:
        r_hat: float | None = self._outcome()["r_hat"]
        return r_hat

    @property
    def n_sweeps_(self) -> int:
        sweeps: int = self._outcome()["sweeps"]
        return sweeps

    @property
    def interrupted_(self) -> bool:
        is_interrupted: bool = self._outcome()["is_interrupted"]
        return is_interrupted

    @property
    def model_(self) -> dict[str, Any]:
        """The model with every value that was learnt from the faces, as ``model`` takes it."""
        model: dict[str, Any] = json.loads(self._fitted_attribute().model())
        return model

    def draws_(self) -> dict[str, NDArray[Any]]:
        """The draws, an array per quantity with a row per draw, ordered by sweep, then chain."""
        return self._fitted().draws()

    def save_draws(self, path: str | os.PathLike[str]) -> None:
        """Writes the draws as ``kith fit --draws`` does: the same seed gives the same bytes."""
        self._fitted().save_draws(os.fspath(path))

    def association_matrix(self, rows: ArrayLike | None = None) -> NDArray[np.float64]:
        """How probable it is that two rows are the same person, over the draws; of some rows, or of all."""
        identities = self.draws_()["identities"]
        if rows is not None:
            identities = identities[:, np.asarray(rows)]
        matrix = np.zeros((identities.shape[1],) * 2)
        for draw in identities:
            matrix += draw[:, None] == draw
        return matrix / len(identities)

    def to_arviz(self, partition: bool = True) -> Any:
        """The draws for ArviZ: an ``InferenceData`` (ArviZ 0.x) or a ``DataTree`` (1.x).

        ``posterior`` has what has a meaning of its own in every draw, ``sample_stats`` has ``lp``, ``sweep``
        and ``moved``, the share of faces that are with other people than one draw before; the partitions, whose labels
        have no meaning, are a group of their own. There is no acceptance rate: most of a sweep is Gibbs steps, which
        are never refused, and a draw, whose bytes are the program's, holds nothing of what was proposed.
        """
        from ._arviz import to_arviz

        return to_arviz(self, partition=partition)

    # Within.

    def _options(self) -> str:
        if not isinstance(self.start, (str, list, tuple, type(None))):
            raise ValueError(f"start: found {self.start!r}, wanted a text or a list of them")
        starts = [self.start] if isinstance(self.start, str) else self.start and list(self.start)
        for name in ("sweeps", "thin", "draws"):
            _columns.check_count(name, getattr(self, name), at_least=1)
        _columns.check_count("n_chains", self.n_chains, at_least=1, at_most=_columns.MOST_CHAINS)
        _columns.check_count("burn_in", self.burn_in, at_least=0)
        options = {
            "model": json.loads(_columns.model_tree(self.model)),
            "chains": _whole(self.n_chains),
            "seed": self._seed(),
            "sweeps": _whole(self.sweeps),
            "burn_in": _whole(self.burn_in),
            "thin": _whole(self.thin),
            "draws": _whole(self.draws),
            "starts": starts,
        }
        return json.dumps(options)

    def _known_people(self) -> tuple[NDArray[np.float32], list[list[int]]] | None:
        if self.background is None:
            return None
        if not isinstance(self.background, (tuple, list)) or len(self.background) != 2:
            raise ValueError("background: found one thing, wanted two: embeddings, and who is on each")
        known = _columns.floats(self.background[0])
        if known.shape[1] != self.n_features_in_:
            found = f"background: found embeddings of dimension {known.shape[1]}"
            raise ValueError(f"{found}, wanted {self.n_features_in_} as in X")
        return known, _columns.people(_columns.cells(self.background[1], len(known), "background"))

    def _seed(self) -> int:
        if isinstance(self.random_state, numbers.Integral):
            if not 0 <= self.random_state < 2**64:
                raise ValueError(f"random_state: found {self.random_state}, wanted 0 to 2**64 - 1")
            return int(self.random_state)
        if self.random_state is None:
            return int(np.random.default_rng().integers(2**63))
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _n_threads(self) -> int:
        return _columns.n_threads(self.n_jobs)

    def _faces(self, X: Any, y: Any, frames: Any, contexts: Any, *, reset: bool) -> tuple[Faces, int]:
        X = validate_data(self, _columns.bare(X), dtype=np.float32, order="C", reset=reset)
        of_row, of_frame = _columns.in_frames(frames, contexts, len(X))
        return Faces(X, of_row, of_frame, _columns.names(y, len(X))), len(X)

    def _new(self, X: Any) -> NDArray[np.float32]:
        new: NDArray[np.float32] = validate_data(
            self, _columns.bare(X), dtype=np.float32, order="C", reset=False
        )
        return new

    def _asked(self, what: str, X: Any, contexts: Any) -> NDArray[Any]:
        belief, new = self._fitted(), self._new(X)
        texts = None if contexts is None else _columns.texts(contexts, len(new), "contexts")
        answers: NDArray[Any] = getattr(belief, what)(new, texts)
        return answers

    def _work(self, belief: Belief, work: Callable[[Progress | None], None], times: list[Any] | None) -> None:
        with teller(self.progress) as tell:
            try:
                work(tell)
            except KeyboardInterrupt:
                # The chains halt by themselves; whoever asks waits for that.
                self._belief, self._times = belief, times
                raise
        self._belief, self._times = belief, times
        outcome = self._outcome()
        if outcome["is_apart"]:
            r_hat = outcome["r_hat"]
            place = "no R-hat" if r_hat is None else f"R-hat {r_hat:.2f}"
            warnings.warn(
                f"the chains do not agree after {outcome['sweeps']} sweeps ({place}, wanted below 1.05): "
                "learn() gives them more",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _all_times(self, n_before: int, times: Any | None, n_rows: int) -> list[Any] | None:
        """Those of the faces before, which may not all have been taken in, and of the new ones."""
        before = getattr(self, "_times", None) if n_before else None
        if times is None and before is None:
            return None
        new = [None] * n_rows if times is None else _columns.cells(times, n_rows, "times")
        return (before or [None] * n_before)[:n_before] + new

    def _belief_or_none(self) -> Belief | None:
        belief: Belief | None = self.__dict__.get("_belief")
        return belief if belief is not None and belief.is_fitted() else None

    def __sklearn_is_fitted__(self) -> bool:
        return self._belief_or_none() is not None

    def _fitted(self) -> Belief:
        check_is_fitted(self)
        return self._belief

    def _fitted_attribute(self) -> Belief:
        belief = self._belief_or_none()
        if belief is None:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet.")
        return belief

    def _outcome(self) -> dict[str, Any]:
        outcome: dict[str, Any] = json.loads(self._fitted_attribute().summary())["outcome"]
        return outcome

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)
