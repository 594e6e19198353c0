"""Draws for ArviZ, of either generation."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._kith import __version__

if TYPE_CHECKING:
    from ._estimator import Kith


def to_arviz(est: Kith, *, partition: bool) -> Any:
    """See :meth:`kith.Kith.to_arviz`."""
    draws = est.draws_()
    place = _by_chain(draws["chain"])
    take = {name: values[place] for name, values in draws.items()}
    identities = take["identities"]
    sizes = [np.bincount(draw) for draw in identities.reshape(-1, identities.shape[-1])]
    posterior = {
        "n_identities": take["n_identities"],
        "n_singletons": _of_sizes(sizes, lambda n: (n == 1).sum(), place),
        "size_entropy": _of_sizes(sizes, lambda n: -(n / n.sum() * np.log(n / n.sum())).sum(), place),
        "largest_share": _of_sizes(sizes, lambda n: n.max() / n.sum(), place),
        "unseen": take["unseen"],
    }
    for name in ("alpha_0", "gamma_0", "lambda", "epsilon"):
        # What was fixed is no random variable.
        if np.ptp(take[name]) > 0:
            posterior[name] = take[name]
    summary = json.loads(est._fitted().summary())
    coords: dict[str, Any] = {}
    dims: dict[str, list[str]] = {}
    alpha = take["alpha"]
    if np.isfinite(alpha).all() and np.ptp(alpha) > 0:
        named = len(summary["contexts"]) == alpha.shape[-1]
        coords["context"] = summary["contexts"] if named else np.arange(alpha.shape[-1])
        posterior["alpha"], dims["alpha"] = alpha, ["context"]
    stats = {"lp": take["lp"], "sweep": take["sweep"], "moved": _moved(identities)}
    groups = {"posterior": posterior, "sample_stats": stats}
    if partition:
        groups["partition"] = {"identity": identities}
        dims["identity"], coords["face"] = ["face"], np.arange(identities.shape[-1])
        if np.ptp(take["contexts"]) > 0:
            groups["partition"]["frame_context"] = take["contexts"]
            dims["frame_context"], coords["frame"] = ["frame"], np.arange(take["contexts"].shape[-1])
    attrs = {
        "inference_library": "kith",
        "inference_library_version": __version__,
        "seed": str(summary["seed"]),
        "model": json.dumps(est.model_) if summary["dimension"] <= 64 else "",
    }
    return _tree(groups, coords, dims, attrs)


def _by_chain(chain: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of each chain's draws; all are cut to the last draws of the shortest, since ArviZ is rectangular."""
    places = [np.flatnonzero(chain == number) for number in np.unique(chain)]
    shortest = min(len(place) for place in places)
    return np.stack([place[len(place) - shortest :] for place in places])


def _moved(identities: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of faces that are not with most of whom they were with one draw before; 0 for a chain's first."""
    moved = np.zeros(identities.shape[:2])
    for chain, draws in enumerate(identities):
        for draw in range(1, len(draws)):
            pairs, counts = np.unique(np.stack([draws[draw - 1], draws[draw]]), axis=1, return_counts=True)
            most = np.zeros(pairs[0].max() + 1, dtype=np.int64)
            np.maximum.at(most, pairs[0], counts)
            moved[chain, draw] = 1 - most.sum() / draws.shape[1]
    return moved


def _of_sizes(sizes: list[NDArray[np.int64]], of: Any, place: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.array([of(n) for n in sizes], dtype=float).reshape(place.shape)


def _tree(
    groups: dict[str, Any], coords: dict[str, Any], dims: dict[str, list[str]], attrs: dict[str, str]
) -> Any:
    if int(version("arviz").split(".")[0]) >= 1:
        from arviz_base import from_dict

        data = from_dict(groups, coords=coords, dims=dims)
        data.attrs.update(attrs)
    else:
        import arviz as az

        usual = {name: group for name, group in groups.items() if name != "partition"}
        data = az.from_dict(**usual, coords=coords, dims=dims)
        if "partition" in groups:
            own = {name: dims[name] for name in groups["partition"]}
            kept = {axis: coords[axis] for axes in own.values() for axis in axes}
            dataset: Any = az.dict_to_dataset
            extra = dataset(groups["partition"], coords=kept, dims=own)
            data.add_groups({"partition": extra}, warn_on_custom_groups=False)
    for group in groups:
        data[group].attrs.update(attrs)
    return data
