"""Draws for ArviZ, whichever generation is installed."""

import json

import numpy as np
import pytest
from kith import Kith

az = pytest.importorskip("arviz")


@pytest.fixture(scope="module")
def est():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 1.0, (20, 2)) for centre in (-3.0, 0.0, 3.0)])
    return Kith(random_state=1, sweeps=100, thin=2, n_chains=4).fit(X, ["Ann"] + [None] * 59)


def test_groups_and_their_shapes(est):
    data = est.to_arviz()
    posterior, stats, partition = data["posterior"], data["sample_stats"], data["partition"]
    assert posterior["n_identities"].dims == ("chain", "draw") and posterior["n_identities"].shape == (4, 40)
    assert {"n_singletons", "alpha_0", "alpha", "unseen", "largest_share"} <= set(posterior.data_vars)
    assert stats["lp"].shape == (4, 40)
    moved = np.asarray(stats["moved"])
    assert (moved[:, 0] == 0).all() and 0 < moved.max() < 1
    same = (np.diff(np.asarray(partition["identity"]), axis=1) == 0).all(axis=-1)
    assert (moved[:, 1:][same] == 0).all()
    assert partition["identity"].dims == ("chain", "draw", "face") and partition["identity"].shape == (
        4,
        40,
        60,
    )
    # Numbered by first appearance, in every draw.
    identity = np.asarray(partition["identity"])
    assert (identity[..., 0] == 0).all()
    np.testing.assert_array_equal(identity.max(axis=-1) + 1, np.asarray(posterior["n_identities"]))
    assert posterior.attrs["inference_library"] == "kith"
    assert json.loads(posterior.attrs["model"])["face"]["kind"] == "isotropic"
    without = est.to_arviz(partition=False)
    groups = without.groups if isinstance(without.groups, tuple) else without.groups()
    assert any("posterior" in group for group in groups) and not any("partition" in group for group in groups)


def test_summaries_and_plots_work(est):
    import matplotlib

    matplotlib.use("Agg")
    data = est.to_arviz()
    summary = az.summary(data)
    assert "n_identities" in summary.index and not any("identity[" in row for row in summary.index)
    az.plot_trace(data, var_names=["n_identities", "alpha_0"])
    az.plot_rank(data, var_names=["n_identities"])
    az.plot_forest(data, var_names=["alpha_0"])
    for of in (az.ess, az.rhat):
        assert float(of(data, var_names=["n_identities"])["n_identities"]) > 0.9


def test_chains_of_unequal_length_are_cut():
    from kith._arviz import _by_chain

    chain = np.array([0, 1, 0, 1, 0])
    np.testing.assert_array_equal(_by_chain(chain), [[2, 4], [1, 3]])
