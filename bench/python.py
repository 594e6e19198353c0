"""What the Python package costs over the program: `fit`, and `predict` of new faces.

    pip install . && cargo build --release && python bench/python.py target/release/kith

Program and package do the same work in turn, several times, each in a process of its own. Compared are medians of processor time
(user and system, of all threads), which other work on the machine moves less than the clock; the clock and peak memory are told too.
The memory of the package is told with what it had before the work began: Python, its libraries, and the array that is the caller's.

    python bench/python.py target/release/kith --faces 100000 --people 500 --dimension 512 --sweeps 2 --only fit
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

FIT = {"n_chains": 2, "thin": 1, "random_state": 1, "n_jobs": 2}
MODEL = {"face": {"kind": "isotropic"}, "context": {"mode": "none"}}


def made(folder, options):
    """Two datasets of the same people about the origin, as the program reads them."""
    import numpy as np

    n_people = options.people or options.faces
    people = np.random.default_rng(7).normal(0.0, 2.0, (n_people, options.dimension))
    for seed, (name, n_faces) in enumerate({"data": options.faces, "new": options.new}.items(), 1):
        x = np.random.default_rng(seed).standard_normal((n_faces, options.dimension), dtype=np.float32)
        x += people[np.arange(n_faces) % n_people]
        (folder / name).mkdir()
        np.save(folder / name / "embeddings.npy", x)
        (folder / name / "faces.csv").write_text("face\n" + "".join(f"{row}\n" for row in range(n_faces)))


def measured(command):
    """Seconds of the processor and of the clock, megabytes at most, and the standard output."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    clock = time.perf_counter() - start
    return {"processor": usage.ru_utime + usage.ru_stime, "clock": clock, "memory": usage.ru_maxrss / 1024}, out


def child(what, folder, sweeps):
    """The package's part; says what was spent after Python and its libraries were loaded."""
    import numpy as np
    from kith import Kith

    x = np.load(folder / "data" / "embeddings.npy")
    est = Kith(model=MODEL, sweeps=sweeps, burn_in=max(sweeps - 2, 0), **FIT)
    if what == "predict":
        est.fit(x)
        x = np.load(folder / "new" / "embeddings.npy")
    had, before, start = peak(), time.process_time(), time.perf_counter()
    if what == "fit":
        est.fit(x)
        est.labels_  # noqa: B018
        est.save_draws(folder / "package.ndjson")
    else:
        est.predict(x)
    spent = {"processor": time.process_time() - before, "clock": time.perf_counter() - start}
    print(json.dumps(spent | {"memory": peak(), "had": had}))


def peak():
    """The most megabytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def commands(options, folder):
    """What the program is told for each kind of work."""
    data, new, draws = (str(folder / name) for name in ("data", "new", "program.ndjson"))
    fit = [options.kith, "fit", data, "--draws", draws, "--model", str(folder / "model.toml"), "--seed", "1"]
    fit += ["--chains", "2", "--sweeps", str(options.sweeps), "--burn-in", str(max(options.sweeps - 2, 0))]
    predict = [options.kith, "predict", data, "--draws", draws, "--new", new, "--json"]
    return {"fit": [*fit, "--thin", "1", "--threads", "2"], "predict": [*predict, "--threads", "2"]}


def compare(what, options, folder):
    """Program and package in turn, and their medians."""
    draws, spent = folder / "program.ndjson", {"program": [], "package": []}
    for _ in range(options.repeats):
        if what == "fit":
            draws.unlink(missing_ok=True)
        spent["program"].append(measured(commands(options, folder)[what])[0])
        spent["package"].append(json.loads(measured([sys.executable, *sys.argv, "--child", what, str(folder)])[1]))
    median = lambda who, key: statistics.median(run[key] for run in spent[who])
    program, package = ({key: median(who, key) for key in spent[who][0]} for who in ("program", "package"))
    print(
        f"{what}: program {program['processor']:.2f} s, package {package['processor']:.2f} s of the processor "
        f"(ratio {package['processor'] / program['processor']:.2f}); by the clock {program['clock']:.2f} and "
        f"{package['clock']:.2f} s; program {program['memory']:.0f} MiB at most, package {package['memory']:.0f} MiB, of which "
        f"{package['had']:.0f} before",
        flush=True,
    )
    if what == "fit":
        same = (folder / "package.ndjson").read_bytes() == draws.read_bytes()
        print(f"the same bytes of draws: {same}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kith")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--faces", type=int, default=10_000)
    parser.add_argument("--people", type=int, help="as many as faces where it is not given")
    parser.add_argument("--dimension", type=int, default=128)
    parser.add_argument("--sweeps", type=int, default=10)
    parser.add_argument("--new", type=int, default=1_000)
    parser.add_argument("--only", choices=["fit"], help="without predict, which takes the draws of fit")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        what, folder = options.child[0], pathlib.Path(options.child[1])
        return made(folder, options) if what == "made" else child(what, folder, options.sweeps)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        # By a process of its own: what one has had at most counts for those that it starts.
        measured([sys.executable, *sys.argv, "--child", "made", place])
        (folder / "model.toml").write_text('[face]\nkind = "isotropic"\n[context]\nmode = "none"\n')
        for what in ("fit", "predict"):
            if options.only in (None, what):
                compare(what, options, folder)


if __name__ == "__main__":
    main()
