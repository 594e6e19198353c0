"""The library: every verb, and the program's locks."""

import concurrent.futures
import multiprocessing
import os
import pathlib
import pickle

import numpy as np
import pytest
from kith import Kith, Library


def clusters(n=20):
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(centre, 0.3, (n, 2)) for centre in (-4.0, 4.0)]).astype(np.float32)


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path / "family.kith", by="me")
    keys = [f"face {row}" for row in range(40)]
    frames = [f"photo {row % 20}" for row in range(40)]
    added = library.add(
        clusters(),
        faces=keys,
        frames=frames,
        contexts=["home"] * 40,
        times=[f"2026-01-{row % 20 + 1:02}" for row in range(40)],
    )
    assert added == {"faces": 40, "known": 0, "frames": 20, "names": 0, "n_faces": 40}
    return library


def test_what_is_added_is_learnt_and_shown(library):
    changes = library.learn(seed=1)
    assert (changes["n_faces"], changes["n_people"]) == (40, 2) and not changes["interrupted"]
    people = library.people()
    assert sorted(len(person.faces) for person in people) == [20, 20]
    assert people[0].contexts == {"home": 20} and people[0].standing == "familiar"
    assert people[0].seen == ("2026-01-01T00:00:00Z", "2026-01-20T00:00:00Z")
    assert len(library) == 40


def test_what_is_said_counts_and_is_taken_back(library):
    library.learn(seed=1)
    act = library.name("face 0", "Ann")
    who = library.who("face 3")
    assert who.name == "Ann" and who.person[1] > 0.9 and who.why[0].p > 0.9
    ben = next(person for person in library.people() if person.name is None)
    library.name(person=ben.id, name="Ben")
    assert {person.name for person in library.people()} == {"Ann", "Ben"}
    library.not_("face 3", "Ben")
    library.same("face 1", "face 2")
    library.different("face 1", "face 21")
    log = library.log()
    assert [entry["kind"] for entry in log] == ["name", "name", "not", "same", "different"]
    assert log[0]["act"] == act and log[0]["by"] == "me" and log[0]["agreement"] > 0.5
    undone = library.undo(2)
    assert len(undone) == 2 and library.redo() == undone[-1]
    library.ignore("face 39")
    assert sum(len(person.faces) for person in library.people()) == 39


def test_questions_and_new_faces(library):
    library.learn(seed=1)
    question = library.ask(3)[0]
    assert question.ask == "who" and question.gain > 5
    library.name("face 0", "Ann")
    answers = library.who_is_on([[-4.0, -4.0], [40.0, -40.0]])
    assert answers[0].name == "Ann" and answers[1].standing == "stranger"
    with pytest.raises(ValueError, match="dimension 3, wanted 2"):
        library.who_is_on([[1.0, 2.0, 3.0]])
    for missing in (float("nan"), float("inf"), 1e300):
        with pytest.raises(ValueError, match="row 1: found .* at column 0, wanted a finite number"):
            library.who_is_on([[1.0, 2.0], [missing, 1.0]])


def test_forgetting_leaves_nothing(library):
    library.learn(seed=1)
    library.name("face 0", "Ann")
    # Whose faces they are is taken in when somebody asks.
    assert library.people()[0].name == "Ann"
    would = library.forget(name="Ann", dry_run=True)
    assert len(would["faces"]) == 20 and len(library) == 40
    assert library.forget(name="Ann") == would
    assert len(library) == 20
    with pytest.raises(ValueError, match="one of face, name and person"):
        library.forget()


def test_refusals_are_the_exceptions_that_python_has(library, tmp_path):
    with pytest.raises(FileNotFoundError, match="kith add"):
        Library(tmp_path / "nowhere.kith").people()
    with pytest.raises(ValueError, match='no face "face 99"'):
        library.name("face 99", "Ann")
    with pytest.raises(ValueError, match="another embedding"):
        library.add([[1.0, 2.0]], faces=["face 0"])
    (tmp_path / "other").write_text("no library, and long enough not to be taken for an empty one")
    with pytest.raises(OSError, match="wanted a library of kith"):
        Library(tmp_path / "other").people()


def test_numbers_that_cannot_be_are_named_and_a_path_may_be_bytes(library):
    for wrong in ({"sweeps": -1}, {"n_chains": 0}, {"n_chains": 10**6}, {"seed": -1}, {"sweeps": "many"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found"):
            library.learn(**wrong)
    for ask in (library.ask, library.undo):
        with pytest.raises(ValueError, match="n: found -1"):
            ask(-1)
    with pytest.raises(ValueError, match="times: found 'soon'"):
        library.add([[1.0, 2.0]], faces=["new"], times=["soon"])
    with pytest.raises(ValueError, match="faces: row 0: found"):
        library.add([[1.0, 2.0]], faces=["\udcff"])
    assert len(Library(os.fsencode(library.path))) == 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_and_threads_work_too(library):
    library.learn(seed=1)
    est = Kith(random_state=1, sweeps=20).fit(clusters())
    # Whatever this process has threads for, the other one has none of them.
    pickle.loads(pickle.dumps(est))
    wanted = (list(est.predict(clusters()[:3])), library.who("face 3").standing)
    fork = multiprocessing.get_context("fork")
    with fork.Pool(1) as pool:
        found = pool.apply_async(_ask_again, (est, library.path)).get(timeout=60)
    assert found == wanted

    def say(speaker):
        own = Library(library.path, by=str(speaker))
        return [own.name(f"face {speaker * 5 + face}", f"N{speaker}") for face in range(5)]

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        acts = sum(threads.map(say, range(4)), [])
    assert len(set(acts)) == 20 and len(library.log()) == 20


def _ask_again(est, path):
    return list(est.predict(clusters()[:3])), Library(path).who("face 3").standing


def test_one_process_at_a_time_learns(library):
    fcntl = pytest.importorskip("fcntl")
    with open(library.path + "-lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="learning, watching, serving or forgetting"):
            library.learn(seed=1)
        # Reading and saying need no claim.
        library.name("face 0", "Ann")
        assert library.people()[0].name == "Ann"


def test_a_library_is_known_by_its_path(library):
    library.n_jobs = 1
    again = pickle.loads(pickle.dumps(library))
    assert again.n_jobs == 1
    assert again.path == library.path and len(again) == 40 and again.by == "me"
    first = Library(library.path)
    assert first.add(clusters()[:1] + 9, y=["Cem"]) == {
        "faces": 1,
        "known": 0,
        "frames": 1,
        "names": 1,
        "n_faces": 41,
    }


TOY = pathlib.Path(__file__).resolve().parents[2] / "crates" / "kith-vision" / "tests" / "toy"


def drawn(who, width=96):
    """A photo with one face that the toy networks see: a red cell, and a ring of colours that is somebody's."""
    ring = np.random.default_rng(who).integers(0, 256, (3, 3, 3)) // (2, 2, 1) + (0, 128, 0)
    ring[1, 1] = (255, 0, 0)
    picture = np.full((96, width, 3), (110, 120, 130))
    picture[:, :96] = ring.repeat(32, 0).repeat(32, 1)
    return picture.astype(np.uint8)


@pytest.mark.skipif(not TOY.exists(), reason="needs the toy networks of the repository")
def test_photos_are_added_followed_and_asked_about(tmp_path):
    imsave = pytest.importorskip("matplotlib.image").imsave
    album = tmp_path / "album"
    album.mkdir()
    for photo in range(12):
        imsave(album / f"{photo:02}.png", drawn(photo % 3, 96 + 32 * (photo // 3)))
    (album / "torn.jpg").write_bytes(b"\xff\xd8\xff")
    library, seen = Library(tmp_path / "family.kith"), []
    added = library.add_photos(album, models=TOY, context="folder", progress=lambda *told: seen.append(told))
    assert (added["photos"], added["faces"], added["n_faces"]) == (12, 12, 12), added
    assert [pathlib.Path(path).name for path in added["bad"]] == ["torn.jpg"]
    library.learn(seed=1, sweeps=20)
    assert [len(person.faces) for person in library.people()] == [4, 4, 4]
    # What is known is not looked at again; what moved is the same photo.
    (album / "00.png").rename(album / "moved.png")
    again = library.add_photos(album, models=TOY)
    assert (again["photos"], again["moved"], again["unchanged"], again["n_faces"]) == (0, 1, 11, 12)
    library.name("01.png#0", "Ann")
    imsave(tmp_path / "new.png", drawn(1, 300))
    embeddings, boxes = library.look(tmp_path / "new.png", models=TOY)
    assert embeddings.dtype == np.float32 and boxes.shape == (1, 4)
    assert [who.name for who in library.who_is_on(embeddings)] == ["Ann"]
    with pytest.raises(ValueError, match="kith models get"):
        library.add_photos(album, models=tmp_path)
    with pytest.raises(ValueError, match="wanted one of place"):
        library.add_photos(album, models=TOY, context="weekday")
