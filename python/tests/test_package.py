"""The package as a whole: types, stubs, examples, and the program's draws."""

import contextlib
import doctest
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import warnings

import kith
import numpy as np
import pytest
from kith import Kith

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["kith", "kith._columns", "kith._estimator", "kith._library", "kith.plots"])
def test_examples_in_docstrings_run(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0 and found.failed == 0


def test_examples_in_the_readme_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(ROOT / "python" / "README.md"), module_relative=False)
    assert found.attempted > 10 and found.failed == 0


def test_plots_are_read_when_they_are_asked_for():
    done = "import kith, sys; assert 'matplotlib' not in sys.modules; kith.plots.association"
    subprocess.run([sys.executable, "-c", done], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kith.nothing  # noqa: B018


def mypy(*arguments):
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed():
    assert (pathlib.Path(kith.__file__).parent / "py.typed").exists()
    mypy("mypy", "--config-file", "pyproject.toml", "-p", "kith")


def test_stubs_say_what_the_module_has():
    mypy("mypy.stubtest", "kith._kith", "--mypy-config-file", "pyproject.toml")


def program():
    """The program, where it has been built."""
    given = os.environ.get("KITH", ROOT / "target" / "release" / "kith")
    found = shutil.which(given)
    if found is None:
        pytest.skip("the program is not built: cargo build --release, or KITH=path")
    return found


@contextlib.contextmanager
def quiet():
    """Whether chains agree is not asked here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def dataset(folder, X, y, frames, contexts):
    """Writes what the program reads."""
    folder.mkdir()
    np.save(folder / "embeddings.npy", X)
    rows = [f"f{row},m{frames[row]},{contexts[row]},{y[row] or ''}" for row in range(len(X))]
    (folder / "faces.csv").write_text("face,frame,context,name\n" + "\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize("dimension, sweeps", [(3, None), (3, 40), (40, None)])
def test_same_seed_same_bytes_of_draws_as_the_program(tmp_path, dimension, sweeps):
    rng = np.random.default_rng(0)
    truth = np.arange(90) % 5
    X = (rng.normal(size=(5, dimension))[truth] * 4 + rng.normal(size=(90, dimension))).astype(np.float32)
    y = [f"name {truth[row]}" if row % 9 == 0 else None for row in range(90)]
    frames, contexts = np.arange(90) // 2, ["home" if row < 40 else "work" for row in range(90)]
    folder = dataset(tmp_path / "faces", X, y, frames, contexts)
    more = [] if sweeps is None else ["--sweeps", str(sweeps)]
    command = [program(), "fit", folder, "--draws", tmp_path / "program.ndjson", "--seed", "7", *more]
    subprocess.run(command, check=True, capture_output=True)
    est = Kith(random_state=7, sweeps=sweeps)
    with quiet():
        est.fit(X, y, frames=frames, contexts=contexts)
    est.save_draws(tmp_path / "package.ndjson")
    assert (tmp_path / "package.ndjson").read_bytes() == (tmp_path / "program.ndjson").read_bytes()


def test_answers_about_an_occasion_are_those_of_the_program(tmp_path):
    rng = np.random.default_rng(1)
    truth = np.arange(80) % 4
    X = (rng.normal(size=(4, 3))[truth] * 4 + rng.normal(size=(80, 3))).astype(np.float32)
    y = ["Ann" if row == 0 else "Ben" if row == 1 else None for row in range(80)]
    frames, contexts = list(range(80)), [""] * 80
    folder = dataset(tmp_path / "faces", X, y, frames, contexts)
    new = dataset(tmp_path / "new", X[:10] + np.float32(0.1), [None] * 10, frames[:5] * 2, contexts[:10])
    draws = tmp_path / "draws.ndjson"
    subprocess.run(
        [program(), "fit", folder, "--draws", draws, "--seed", "3"], check=True, capture_output=True
    )
    arguments = [program(), "predict", folder, "--draws", draws, "--new", new, "--json"]
    told = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    # Points of three dimensions, of which nobody says that they are faces, would be clouds.
    with quiet():
        est = Kith(random_state=3, model={"face": {"kind": "isotropic"}}).fit(X, y)
    answers = est.who_together(X[:10] + np.float32(0.1), frames=frames[:5] * 2)
    for line, answer in zip(told.splitlines(), answers, strict=True):
        wanted = json.loads(line)
        assert (answer.acquainted, answer.stranger) == (wanted["acquainted"], wanted["stranger"])
        assert [(share.name, share.p) for share in answer.names] == [
            (name["name"], name["p"]) for name in wanted["names"]
        ]
