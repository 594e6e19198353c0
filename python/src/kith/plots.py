"""Pictures of what was learnt, in matplotlib. Every function takes ``ax`` and returns the axes it drew on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._estimator import Kith

__all__ = ["association", "calibration", "people", "roc", "timeline"]


def _axes(ax: Any | None) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def association(
    est: Kith, rows: ArrayLike | None = None, *, order: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """How probable it is that two faces are the same person, faces of one person side by side.

    ``rows`` are some rows of the data; ``order`` sorts them, for example by the truth, instead of by ``labels_``.

    >>> import kith, numpy as np, matplotlib
    >>> matplotlib.use("Agg")
    >>> X = np.concatenate([np.random.default_rng(k).normal(8 * k, 1, (10, 2)) for k in range(3)])
    >>> ax = association(kith.Kith(random_state=1).fit(X))
    >>> ax.get_xlabel()
    'face'
    """
    ax = _axes(ax)
    chosen = np.arange(len(est.labels_)) if rows is None else np.asarray(rows)
    by = est.labels_[chosen] if order is None else np.asarray(order)
    chosen = chosen[np.argsort(by, kind="stable")]
    image = ax.imshow(est.association_matrix(chosen), vmin=0, vmax=1, cmap="Greys", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="probability of the same person")
    ax.set(xlabel="face", ylabel="face")
    return ax


def roc(
    is_stranger: ArrayLike,
    odds: ArrayLike,
    *,
    mass: float = 0.95,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """How well strangers are told from people who were seen, with an interval over draws.

    ``odds`` has a row per draw (:meth:`kith.Kith.stranger_odds`), or is one row.

    >>> ax = roc([False, False, True, True], [[0.1, 0.4, 0.35, 0.8], [0.1, 0.2, 0.35, 0.8]])
    >>> ax.get_legend_handles_labels()[1]
    ['area 0.88 [0.75, 1.00]']
    """
    truth, odds = np.asarray(is_stranger, dtype=bool), np.atleast_2d(np.asarray(odds, dtype=float))
    if truth.all() or not truth.any():
        raise ValueError("wanted strangers and people who were seen, found only one of them")
    grid = np.linspace(0, 1, 201)
    curves = np.array([np.interp(grid, *_curve(truth, scores)) for scores in odds])
    areas = np.array([_area(truth, scores) for scores in odds])
    low, high = np.quantile(curves, [(1 - mass) / 2, (1 + mass) / 2], axis=0)
    interval = np.quantile(areas, [(1 - mass) / 2, (1 + mass) / 2])
    if len(areas) < 20:
        interval = np.array([areas.min(), areas.max()])
    ax = _axes(ax)
    text = f"area {areas.mean():.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"
    (line,) = ax.plot(grid, curves.mean(axis=0), label=text if label is None else f"{label}: {text}")
    ax.fill_between(grid, low, high, alpha=0.3, color=line.get_color(), linewidth=0)
    ax.plot([0, 1], [0, 1], ":", color="grey")
    ax.set(xlabel="seen, taken for strangers", ylabel="strangers, found", aspect="equal")
    ax.legend(loc="lower right")
    return ax


def _curve(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[Any, Any]:
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0, True)
    found = np.cumsum(truth[order])[last] / truth.sum()
    false = np.cumsum(~truth[order])[last] / (~truth).sum()
    return np.append(0, false), np.append(0, found)


def _area(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    false, found = _curve(truth, scores)
    return float(np.trapezoid(found, false))


def calibration(
    p: ArrayLike, happened: ArrayLike, *, bins: int = 10, label: str | None = None, ax: Axes | None = None
) -> Axes:
    """How often what was given a probability happened, by probability, with 95 % intervals (Wilson).

    >>> ax = calibration([0.1, 0.1, 0.9, 0.9], [0, 0, 1, 1], bins=2)
    >>> ax.get_ylabel()
    'share that was so'
    """
    p, happened = np.asarray(p, dtype=float).ravel(), np.asarray(happened, dtype=float).ravel()
    if p.shape != happened.shape:
        raise ValueError(f"found {p.size} probabilities and {happened.size} outcomes, wanted as many")
    place = np.clip((p * bins).astype(int), 0, bins - 1)
    n = np.bincount(place, minlength=bins)
    full = n > 0
    n = n[full]
    mean = np.bincount(place, p, minlength=bins)[full] / n
    share = np.bincount(place, happened, minlength=bins)[full] / n
    z = 1.96
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    ax = _axes(ax)
    error = np.clip([share - (centre - half), (centre + half) - share], 0, None)
    off = float((n * np.abs(share - mean)).sum() / n.sum())
    text = f"off by {off:.3f}" if label is None else f"{label}: off by {off:.3f}"
    ax.errorbar(mean, share, error, marker="o", capsize=2, label=text)
    ax.plot([0, 1], [0, 1], ":", color="grey")
    ax.set(xlabel="probability", ylabel="share that was so", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.legend(loc="upper left")
    return ax


def timeline(est: Kith, times: Any | None = None, *, most: int = 20, ax: Axes | None = None) -> Axes:
    """When who was seen: a line per person, those seen most often first, a dot per face as strong as it is certain.

    ``times`` are those that ``fit`` was given, or others: numbers or dates, one per row.

    >>> import kith, numpy as np
    >>> X = np.concatenate([np.random.default_rng(k).normal(8 * k, 1, (10, 2)) for k in range(3)])
    >>> ax = timeline(kith.Kith(random_state=1).fit(X, times=range(30)))
    >>> len(ax.get_yticks())
    3
    """
    labels, certainty = est.labels_, est.certainty_
    # Of a partial_fit that was stopped the first faces are in.
    given: Any = (est._times and est._times[: len(labels)]) if times is None else list(times)
    if given is None:
        raise ValueError("found no times, wanted those of fit(..., times=...) or timeline(est, times)")
    if len(given) != len(labels):
        raise ValueError(f"found {len(given)} times, wanted {len(labels)}, one per row")
    when = np.array([np.nan if time is None else time for time in given])
    if when.dtype.kind in "OU":
        when = np.array([np.datetime64("NaT") if time is None else np.datetime64(time) for time in given])
    sizes = np.bincount(labels)
    shown = np.argsort(-sizes, kind="stable")[:most]
    ax = _axes(ax)
    for line, person in enumerate(shown):
        rows = labels == person
        ax.scatter(when[rows], np.full(rows.sum(), line), alpha=np.clip(certainty[rows], 0.1, 1), s=12)
    titles = [_title(est, person) for person in shown]
    ax.set_yticks(range(len(shown)), titles)
    ax.invert_yaxis()
    ax.set_xlabel("time")
    return ax


def _title(est: Kith, person: int) -> str:
    name = est.people_[person]
    return f"person {person}" if name is None else name[0]


def people(est: Kith, images: Any, *, columns: int = 8, most: int = 10, ax: Axes | None = None) -> Axes:
    """A row of pictures per person, those seen most often first, the most certain faces first.

    ``images`` has a picture per face, (height, width) or (height, width, channels).

    >>> import kith, numpy as np
    >>> X = np.concatenate([np.random.default_rng(k).normal(8 * k, 1, (10, 2)) for k in range(3)])
    >>> ax = people(kith.Kith(random_state=1).fit(X), np.zeros((30, 8, 8)), columns=4)
    >>> ax.images[0].get_array().shape
    (24, 32)
    """
    images = np.asarray(images)
    labels, certainty = est.labels_, est.certainty_
    if len(images) != len(labels):
        raise ValueError(f"found {len(images)} images, wanted {len(labels)}, one per face")
    height, width = images.shape[1:3]
    shown = np.argsort(-np.bincount(labels), kind="stable")[:most]
    blank = images.max() if images.size else 1
    grid = np.full((len(shown) * height, columns * width, *images.shape[3:]), blank, dtype=images.dtype)
    for line, person in enumerate(shown):
        rows = np.flatnonzero(labels == person)
        rows = rows[np.argsort(-certainty[rows], kind="stable")][:columns]
        for column, row in enumerate(rows):
            grid[line * height : (line + 1) * height, column * width : (column + 1) * width] = images[row]
    ax = _axes(ax)
    ax.imshow(grid, cmap="Greys" if images.ndim == 3 else None)
    ax.set_xticks([])
    ax.set_yticks(
        [height * (line + 0.5) for line in range(len(shown))], [_title(est, person) for person in shown]
    )
    return ax
