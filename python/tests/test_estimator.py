"""The estimator: scikit-learn's checks, and what its documentation promises."""

import os
import pickle
import signal
import threading
import time
import warnings

import kith
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from kith import Kith
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([Kith()])
def test_all_checks_of_scikit_learn(estimator, check):
    check(estimator)


def clusters(centres=(-4.0, 0.0, 4.0), n=20, seed=0, dimension=2):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(centre, 0.3, (n, dimension)) for centre in centres])
    return X.astype(np.float32), np.repeat(np.arange(len(centres)), n)


@pytest.fixture(scope="module")
def fitted():
    X, truth = clusters()
    y = [None] * 60
    y[0], y[20] = "Ann", "Ben"
    return Kith(random_state=1).fit(X, y), X, truth


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 6])
def test_blobs_in_the_plane_are_found_with_defaults(seed):
    # Two centres of seeds 0 and 5 are so near each other that no method finds all three.
    X, truth = make_blobs(n_samples=150, centers=3, random_state=seed)
    labels = Kith(random_state=1).fit_predict(X)
    assert adjusted_rand_score(truth, labels) >= 0.9


def test_standardised_blobs_of_the_checks():
    X, truth = make_blobs(n_samples=50, random_state=1)
    labels = Kith(random_state=0).fit_predict(StandardScaler().fit_transform(X))
    assert adjusted_rand_score(truth, labels) >= 0.9


def test_labels_certainty_and_people(fitted):
    est, X, truth = fitted
    assert est.labels_.dtype == np.int64
    assert adjusted_rand_score(truth, est.labels_) == 1.0
    assert est.certainty_.shape == (60,) and (est.certainty_ > 0.9).all()
    assert est.n_identities_ == 3
    assert list(est.names_) == ["Ann", "Ben"]
    assert [None if person is None else person[0] for person in est.people_] == ["Ann", "Ben", None]
    assert est.r_hat_ < 1.05 and est.n_sweeps_ >= 24 and not est.interrupted_


def test_predictions_say_who_and_that_nobody_is(fitted):
    est, _, _ = fitted
    new = [[-4, -4], [4, 4], [30, -30]]
    p = est.predict_proba(new)
    assert p.shape == (3, 4)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)
    assert list(est.predict(new)) == [0, 2, -1]
    assert list(est.predict_names(new)) == ["Ann", None, None]
    assert list(est.predict_standing(new)) == ["acquainted", "familiar", "stranger"]
    np.testing.assert_allclose(est.predict_name_proba(new).sum(axis=1), 1, atol=1e-9)
    answers = est.who(new)
    assert answers[0].name == "Ann" and answers[0].names[0].hdi[1] <= 1
    assert answers[2].standing == "stranger"
    np.testing.assert_allclose([a.stranger for a in answers], p[:, -1], atol=1e-9)
    odds = est.stranger_odds(new)
    assert odds.shape == (len(est.draws_()["lp"]), 3) and (odds[:, 2] > 0).all()


def test_rows_are_answered_by_themselves_and_frames_together(fitted):
    est, _, _ = fitted
    new = np.array([[-4, -4], [-4.1, -4]], dtype=np.float32)
    alone = est.who(new)
    joint = est.who(new, frames=["photo", "photo"])
    # Two faces of one photo are hardly the same person.
    assert alone[0].acquainted + alone[1].acquainted > joint[0].acquainted + joint[1].acquainted
    assert len(est.who_together(new)) == 2


@pytest.mark.parametrize(
    "y",
    [
        ["Ann", None, None, "Ben"],
        ["Ann", float("nan"), "", "Ben"],
        np.array(["Ann", -1, None, "Ben"], dtype=object),
        pd.Series(["Ann", pd.NA, None, "Ben"], dtype="string"),
        pl.Series(["Ann", None, None, "Ben"]),
    ],
)
def test_names_as_people_have_them(y):
    X = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
    est = Kith(random_state=1, sweeps=20).fit(X, y)
    assert list(est.names_) == ["Ann", "Ben"]


def test_numbers_are_names_by_number_but_for_minus_one():
    X = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
    assert list(Kith(random_state=1, sweeps=20).fit(X, [3, -1, -1, 7]).names_) == ["3", "7"]


def test_tables_come_in():
    X, _ = clusters()
    bare = Kith(random_state=1, sweeps=20).fit(X)
    for table in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        est = Kith(random_state=1, sweeps=20).fit(table)
        np.testing.assert_array_equal(est.labels_, bare.labels_)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            est.predict(X)
    lists = pd.DataFrame({"embedding": list(X)})["embedding"]
    for column in (lists, lists.to_frame()):
        est = Kith(random_state=1, sweeps=20).fit(column)
        np.testing.assert_array_equal(est.labels_, bare.labels_)
    with pytest.raises(ValueError, match="row 1: found nothing"):
        kith.embeddings(pd.Series([[1.0, 2.0], None], dtype=object))
    np.testing.assert_array_equal(kith.embeddings(lists), X)
    arrays = pl.Series(list(X), dtype=pl.Array(pl.Float32, 2))
    np.testing.assert_array_equal(kith.embeddings(arrays), X)


def test_float64_and_strided_input_give_the_same():
    X, _ = clusters()
    wide = np.zeros((60, 4), dtype=np.float64)
    wide[:, ::2] = X
    one = Kith(random_state=1, sweeps=20).fit(X)
    for other in (X.astype(np.float64), np.asfortranarray(X), wide[:, ::2], X.tolist()):
        np.testing.assert_array_equal(Kith(random_state=1, sweeps=20).fit(other).labels_, one.labels_)


def test_same_seed_same_draws_on_any_number_of_threads():
    X, _ = clusters()
    one, two = (Kith(random_state=5, n_jobs=n).fit(X).draws_() for n in (1, 2))
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    other = Kith(random_state=6).fit(X).draws_()
    assert not np.array_equal(one["lp"], other["lp"])


def test_frames_and_contexts_are_metadata():
    X, truth = clusters()
    frames, contexts = np.arange(60) // 2, np.repeat(["home", "work"], 30)
    est = Kith(random_state=1, model={"context": {"mode": "given"}}).fit(X, frames=frames, contexts=contexts)
    assert set(np.unique(est.draws_()["contexts"])) == {0, 1}
    with pytest.raises(ValueError, match="row 1"):
        Kith().fit(X[:2], frames=[0, 0], contexts=["home", "work"])
    with pytest.raises(ValueError, match="found 2 entries, wanted 60"):
        Kith().fit(X, frames=[0, 1])
    pipeline = make_pipeline(StandardScaler(), Kith(random_state=1))
    pipeline.fit(X, kith__frames=frames)
    assert pipeline.predict(X).shape == (60,)
    for train, test in GroupKFold(3).split(X, groups=frames):
        assert not set(frames[train]) & set(frames[test])


def test_metadata_routing():
    X, _ = clusters()
    with sklearn.config_context(enable_metadata_routing=True):
        est = Kith(random_state=1, sweeps=20).set_fit_request(frames=True, contexts=False, times=False)
        pipeline = make_pipeline(StandardScaler(), est)
        pipeline.fit(X, frames=np.arange(60) // 2)
        assert len(np.unique(pipeline[-1].draws_()["contexts"].shape)) == 2
        assert pipeline[-1].draws_()["contexts"].shape[1] == 30


def test_partial_fit_takes_faces_in_as_they_come():
    X, truth = clusters()
    order = np.random.default_rng(1).permutation(60)
    est = Kith(random_state=1)
    for rows in np.array_split(order, 6):
        est.partial_fit(X[rows], times=rows)
    assert len(est.labels_) == 60
    est.learn()
    assert adjusted_rand_score(truth[order], est.labels_) == 1.0
    assert est._times == list(order)


def test_pickles_answer_the_same_and_go_on(fitted):
    est, X, _ = fitted
    again = pickle.loads(pickle.dumps(est))
    np.testing.assert_array_equal(again.predict_proba(X), est.predict_proba(X))
    np.testing.assert_array_equal(again.draws_()["lp"], est.draws_()["lp"])
    assert again.learn(sweeps=5).n_sweeps_ == est.n_sweeps_ + 5
    with pytest.raises(NotFittedError):
        clone(est).predict(X)
    pickle.loads(pickle.dumps(Kith()))


def test_a_model_from_a_file_and_a_background(tmp_path):
    X, _ = clusters()
    path = tmp_path / "MODEL.toml"
    path.write_text('[face]\nkind = "isotropic"\nmean = [0.0, 0.0]\nkappa = 0.01\nshape = 3.0\nrate = 0.2\n')
    est = Kith(model=path, random_state=1).fit(X)
    assert est.n_identities_ == 3 and est.model_["face"]["shape"] == 3.0
    known, people = clusters(centres=(-9.0, 3.0, 9.0, -3.0), seed=3)
    est = Kith(background=(known, people), random_state=1).fit(X)
    assert est.n_identities_ == 3
    with pytest.raises(ValueError, match="face.kindness"):
        Kith(model={"face": {"kindness": 1}}).fit(X)


def test_wrong_parameters_are_named():
    X, _ = clusters()
    for wrong in (
        {"n_chains": 0},
        {"sweeps": -1},
        {"draws": 1.5},
        {"sweeps": 5, "burn_in": 5},
        {"start": "here"},
        {"start": 3},
        {"n_chains": 1001},
        {"background": X},
        {"background": (np.zeros((60, 3)), np.arange(60) // 2)},
        {"model": {"frame": {"repeat": float("nan")}}},
    ):
        with pytest.raises(ValueError, match="|".join(wrong)):
            Kith(**wrong).fit(X)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"y": 3}, "y: found a int"),
        ({"y": "Ann"}, "y: found one text"),
        ({"y": []}, "y: found 0 entries, wanted 60"),
        ({"frames": [[1]] * 60}, "frames: found a list at row 0"),
        ({"frames": np.zeros((60, 2))}, "frames: found a list at row 0"),
        ({"times": [1]}, "times: found 1 entries, wanted 60"),
        ({"contexts": "home"}, "contexts: found one text"),
    ],
)
def test_wrong_columns_are_named_before_anything_is_learnt(wrong, message):
    X, _ = clusters()
    with pytest.raises(ValueError, match=message):
        Kith().fit(X, **wrong)
    est = Kith(random_state=1, sweeps=20).fit(X)
    with pytest.raises(ValueError, match=message):
        est.partial_fit(X, **wrong)
    assert len(est.labels_) == 60


@pytest.mark.parametrize(
    "wrong", [{"random_state": -1}, {"random_state": 2**64}, {"n_jobs": "all"}, {"n_jobs": 1.5}]
)
def test_seeds_and_threads_that_cannot_be_are_named(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found"):
        Kith(**wrong).fit([[0.0, 1.0]])
    assert Kith(n_jobs=10**9, sweeps=2, random_state=1).fit([[0.0, 1.0]]).n_identities_ == 1


def test_rows_of_partial_fit_stay_in_order():
    X, truth = clusters()
    est = Kith(random_state=1).partial_fit(X[:20], times=range(20))
    with pytest.raises(ValueError, match="frames: found 'a' again at row 2"):
        est.partial_fit(X[20:23], frames=["a", "b", "a"])
    est.partial_fit(X[20:], frames=np.arange(40) // 2)
    np.testing.assert_array_equal(est.draws_()["contexts"].shape[1], 20 + 20)
    assert est._times == [*range(20), *[None] * 40]
    with pytest.raises(ValueError, match="sweeps: found 0"):
        est.learn(0)


def test_names_may_be_bytes():
    assert list(Kith(random_state=1, sweeps=2).fit([[0.0], [1.0]], np.array([b"Ann", b""])).names_) == ["Ann"]


def test_chains_that_do_not_agree_warn():
    X, _ = make_blobs(n_samples=60, centers=12, random_state=3, cluster_std=3)
    est = Kith(random_state=1, start=["together", "apart"], model={"face": {"kind": "isotropic"}})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        est.fit(X)
    assert (est.r_hat_ is None or est.r_hat_ >= 1.05) == any(
        issubclass(warning.category, ConvergenceWarning) for warning in caught
    )


def test_progress_is_told():
    X, _ = clusters()
    told = []
    Kith(random_state=1, sweeps=50, n_chains=2, progress=lambda done, total: told.append((done, total))).fit(
        X
    )
    assert told[-1] == (100, 100)
    Kith(random_state=1, sweeps=20, progress=True).fit(X)

    def refuse(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        Kith(random_state=1, progress=refuse).fit(X)


def busy(n=4000, dimension=64):
    """Faces that are learnt from for many seconds."""
    return np.random.default_rng(0).normal(size=(n, dimension)).astype(np.float32)


MODEL = {"face": {"kind": "isotropic"}}


def test_ctrl_c_comes_through_and_keeps_the_draws():
    # Whoever starts this in the background of a shell has the signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    X = busy()
    est = Kith(random_state=1, sweeps=100_000, thin=1, burn_in=0, n_chains=2, model=MODEL)
    sent = []

    def send():
        time.sleep(3)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    with pytest.raises(KeyboardInterrupt):
        est.fit(X)
    took = time.monotonic() - sent[0]
    print(f"KeyboardInterrupt after {took:.3f} s")
    # Whoever asks waits until the chains have halted.
    assert est.interrupted_
    draws = est.draws_()
    assert draws["identities"].shape[1] == len(X) and len(draws["lp"]) >= 1
    assert est.n_sweeps_ < 100_000


def interrupted_after(seconds, work):
    """Ctrl-C comes while something is done."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    timer.join()


def test_what_was_stopped_can_be_pickled_and_goes_on():
    X = busy(2000)
    # At once, while the model is still being learnt, and in the middle of the chains.
    for seconds in (0.05, 1.0):
        est = Kith(random_state=1, sweeps=100_000, n_chains=2, model=MODEL)
        interrupted_after(seconds, lambda est=est: est.fit(X, times=range(2000)))
        again = pickle.loads(pickle.dumps(est))
        assert again.interrupted_ and len(again.draws_()["lp"]) >= 1
        np.testing.assert_array_equal(again.labels_, est.labels_)
        assert again.learn(1).n_sweeps_ == est.n_sweeps_ + 1 and len(again._times) == 2000


def test_ctrl_c_comes_through_while_somebody_else_learns():
    est = Kith(random_state=1, sweeps=100, n_chains=2, model=MODEL).fit(busy(300))
    learning = threading.Event()
    est.progress = lambda done, total: learning.set()
    worker = threading.Thread(target=est.learn, args=(300,))
    worker.start()
    learning.wait()
    interrupted_after(0.2, lambda: [est.labels_ for _ in iter(int, 1)])
    worker.join()


def test_other_threads_go_on_meanwhile():
    X = busy(1500)
    est = Kith(random_state=1, sweeps=30, n_jobs=1, n_chains=2, model=MODEL)
    worker = threading.Thread(target=est.fit, args=(X,))
    worker.start()
    ticks = 0
    while worker.is_alive():
        time.sleep(0.005)
        ticks += 1
    worker.join()
    # Under the interpreter's lock the main thread would not have run at all.
    assert ticks > 5


def test_iris_wine_and_digits_are_learnt_with_defaults():
    for X, truth, least in (
        (*load_iris(return_X_y=True), 0.75),
        (*load_wine(return_X_y=True), 0.6),
        (load_digits().data[:300], load_digits().target[:300], 0.5),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = Kith(random_state=1).fit_predict(X)
        assert adjusted_rand_score(truth, labels) > least
