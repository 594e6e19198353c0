"""Every picture is drawn, on given axes too, and shows what it says."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from kith import Kith, plots
from sklearn.exceptions import NotFittedError


@pytest.fixture(scope="module")
def est():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 0.3, (10, 2)) for centre in (-4.0, 0.0, 4.0)])
    order = rng.permutation(30)
    return Kith(random_state=1).fit(X[order], times=np.arange(30))


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_association_puts_people_side_by_side(est):
    shown = plots.association(est).images[0].get_array()
    assert shown.shape == (30, 30)
    # Three blocks on the diagonal.
    assert (shown[:10, :10] > 0.9).all() and (shown[:10, 10:] < 0.1).all()
    ax = plt.subplots()[1]
    assert plots.association(est, rows=[0, 1, 2], order=[2, 1, 0], ax=ax) is ax
    matrix = est.association_matrix()
    np.testing.assert_array_equal(matrix, matrix.T)
    assert (np.diag(matrix) == 1).all()


def test_roc_has_the_area_of_scikit_learn(est):
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(1)
    truth, odds = rng.random(200) < 0.4, rng.normal(size=(40, 200)).round(1)
    odds[:, truth] += 1
    for scores in odds[:3]:
        assert plots._area(truth, scores) == pytest.approx(roc_auc_score(truth, scores))
    ax = plots.roc(truth, odds, label="kith")
    assert "kith: area 0.7" in ax.get_legend_handles_labels()[1][0]
    with pytest.raises(ValueError, match="only one"):
        plots.roc([True, True], [0.1, 0.2])
    new = np.concatenate([est.predict_proba([[0, 0]])[:, -1], est.predict_proba([[50, 0]])[:, -1]])
    plots.roc([False, True], new)


def test_calibration_of_what_is_calibrated_is_on_the_line():
    rng = np.random.default_rng(2)
    p = rng.random(20_000)
    ax = plots.calibration(p, rng.random(20_000) < p)
    line = ax.containers[0].lines[0]
    np.testing.assert_allclose(line.get_xdata(), line.get_ydata(), atol=0.03)
    with pytest.raises(ValueError, match="as many"):
        plots.calibration([0.1, 0.2], [1])


def test_timeline_and_people(est):
    ax = plots.timeline(est)
    assert len(ax.get_yticks()) == 3 and len(ax.collections) == 3
    days = [f"2026-01-{day + 1:02}" for day in range(30)]
    plots.timeline(est, days)
    images = np.random.default_rng(0).random((30, 4, 4, 3))
    assert plots.people(est, images, columns=3).images[0].get_array().shape == (12, 12, 3)
    with pytest.raises(ValueError, match="found 2 images, wanted 30"):
        plots.people(est, images[:2])
    with pytest.raises(ValueError, match="found 2 times, wanted 30"):
        plots.timeline(est, [1, 2])
    with pytest.raises(NotFittedError):
        plots.timeline(Kith())
    with pytest.raises(ValueError, match="no times"):
        plots.timeline(Kith(random_state=1, sweeps=20).fit([[0.0, 1.0], [2.0, 3.0]]))
