"""What the Python package costs over the program: `fit`, and `predict` of new faces.

    pip install . && cargo build --release && python bench/python.py target/release/kith

Program and package do the same work in turn, several times, each in a process of its own. Compared are medians of processor time
(user and system, of all threads), which other work on the machine moves less than the clock; the clock and peak memory are told too.
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

FIT = {"n_chains": 2, "sweeps": 10, "burn_in": 8, "thin": 1, "random_state": 1, "n_jobs": 2}
MODEL = {"face": {"kind": "isotropic"}, "context": {"mode": "none"}}


def made(folder, n_faces, n_people, seed):
    """A dataset of people about the origin, as the program reads it."""
    import numpy as np

    rng = np.random.default_rng(7)
    people = rng.normal(0.0, 2.0, (n_people, 128))
    rng = np.random.default_rng(seed)
    x = people[np.arange(n_faces) % n_people] + rng.normal(size=(n_faces, 128))
    folder.mkdir()
    np.save(folder / "embeddings.npy", x.astype(np.float32))
    (folder / "faces.csv").write_text("face\n" + "".join(f"{row}\n" for row in range(n_faces)))


def measured(command):
    """Seconds of the processor and of the clock, megabytes, and the standard output."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, time.perf_counter() - start, out


def child(what, folder):
    """The package's part; says what was spent after Python and its libraries were loaded."""
    import numpy as np
    from kith import Kith

    x, new = (np.load(folder / name / "embeddings.npy") for name in ("data", "new"))
    est = Kith(model=MODEL, **FIT)
    if what == "predict":
        est.fit(x)
    before, start = time.process_time(), time.perf_counter()
    if what == "fit":
        est.fit(x)
        est.labels_  # noqa: B018
        est.save_draws(folder / "package.ndjson")
    else:
        est.predict(new)
    spent = {"processor": time.process_time() - before, "clock": time.perf_counter() - start}
    print(json.dumps(spent | {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kith")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--faces", type=int, default=10_000)
    parser.add_argument("--new", type=int, default=1_000)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child[0], pathlib.Path(options.child[1]))
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        made(folder / "data", options.faces, options.faces, 1)
        made(folder / "new", options.new, options.faces, 2)
        (folder / "model.toml").write_text('[face]\nkind = "isotropic"\n[context]\nmode = "none"\n')
        data, new, draws = (str(folder / name) for name in ("data", "new", "program.ndjson"))
        fit = [options.kith, "fit", data, "--draws", draws, "--model", str(folder / "model.toml"), "--seed", "1"]
        fit += ["--chains", "2", "--sweeps", "10", "--burn-in", "8", "--thin", "1", "--threads", "2"]
        predict = [options.kith, "predict", data, "--draws", draws, "--new", new, "--json", "--threads", "2"]
        for what, program in (("fit", fit), ("predict", predict)):
            spent = {"program": [], "package": []}
            for _ in range(options.repeats):
                if what == "fit" and os.path.exists(draws):
                    os.remove(draws)
                seconds, clock, _ = measured(program)
                spent["program"].append((seconds, clock))
                own = [sys.executable, __file__, options.kith, "--child", what, place]
                told = json.loads(measured(own)[2])
                spent["package"].append((told["processor"], told["clock"]))
            medians = {who: [statistics.median(one[k] for one in runs) for k in (0, 1)] for who, runs in spent.items()}
            ratio = medians["package"][0] / medians["program"][0]
            print(
                f"{what}: program {medians['program'][0]:.2f} s, package {medians['package'][0]:.2f} s of the processor "
                f"(ratio {ratio:.2f}); by the clock {medians['program'][1]:.2f} and {medians['package'][1]:.2f} s; "
                f"package {told['memory']:.0f} MB at most",
                flush=True,
            )
            if what == "fit":
                same = (folder / "package.ndjson").read_bytes() == pathlib.Path(draws).read_bytes()
                print(f"the same bytes of draws: {same}")


if __name__ == "__main__":
    main()
