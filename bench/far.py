"""Far is strange: P(stranger) of strangers that are moved away from everybody, through `who`, `watch` and `predict`. Run by hand.

    cargo build --release && python3 bench/far.py --kith target/release/kith FOLDER [--people 12] [--strangers 20]

FOLDER has embeddings.npy and faces.csv (face, truth). Some people are learnt from; photos of others are moved c = 1, 1.5, 2, 3, 5, 10
times as far from the training's mean. Beside them zero vectors and random directions of the usual length. `who` is asked about one
photo at a time and about all of one c together, `watch` gets a frame at a time, `predict` all of one c together. Least and mean
P(stranger) per c, and how often it fell from one c to the next by more than 0.01 (a Monte Carlo answer moves by that). Needs numpy.
"""

import json
import shutil
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from calibration import read, read_options, run, write

FACTORS = [1, 1.5, 2, 3, 5, 10]


def asked(kith, library, draws, train, folder, x):
    """P(stranger) of the rows of x, by every way of asking."""
    rows = list(range(len(x)))
    data = write(folder / "all", x, rows)
    found = {}
    texts = [run("nice", kith, "who", library, write(folder / f"one{row}", x, [row]), "--json") for row in rows]
    found["who, one at a time"] = [json.loads(text)["stranger"] for text in texts]
    text = run("nice", kith, "who", library, data, "--json")
    found["who, together"] = [json.loads(line)["stranger"] for line in text.splitlines()]
    text = run("nice", kith, "predict", train, "--draws", draws, "--new", data, "--json")
    found["predict, together"] = [json.loads(line)["stranger"] for line in text.splitlines()]
    found["watch"] = []
    copy = folder / "watched.kith"
    for row in rows:
        # Each before a fresh copy: what is watched is learnt from.
        shutil.copy(library, copy)
        frame = json.dumps({"frame": "w", "faces": [{"face": "w0", "embedding": [float(v) for v in x[row]]}]})
        done = subprocess.run(["nice", kith, "watch", str(copy)], input=frame + "\n", capture_output=True, text=True)
        if done.returncode > 1 or not done.stdout:
            raise SystemExit(done.stderr)
        answer = json.loads(done.stdout.splitlines()[0])
        found["watch"].append(answer["faces"][0]["stranger"])
    return found


def main():
    options = read_options(__doc__, people=12, photos=12, strangers=12)
    rng = np.random.default_rng(options.seed)
    x, truth = read(options.folder)
    x = x.astype(np.float32)
    rows_of = defaultdict(list)
    for row, person in enumerate(truth):
        rows_of[person].append(row)
    people = sorted(person for person, rows in rows_of.items() if len(rows) >= options.photos)
    rng.shuffle(people)
    train = [row for person in people[: options.people] for row in rows_of[person][: options.photos]]
    others = [row for person, rows in rows_of.items() if person not in people[: options.people] for row in rows]
    strangers = x[rng.choice(others, options.strangers, replace=False)]
    mean = x[train].mean(axis=0)
    length = np.linalg.norm(x[train], axis=1).mean()
    directions = rng.normal(size=strangers.shape)
    directions *= length / np.linalg.norm(directions, axis=1, keepdims=True)
    sets = {f"c = {c}": mean + c * (strangers - mean) for c in FACTORS}
    sets["random directions"] = directions
    sets["zeros"] = np.zeros((1, x.shape[1]))
    print(f"\n{options.folder.name}: {len(train)} photos of {options.people} people; {len(strangers)} strangers; seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        data = write(folder / "train", x, train)
        run("nice", options.kith, "fit", data, "--draws", folder / "draws.ndjson", "--seed", 1)
        run(options.kith, "add", folder / "some.kith", data)
        run("nice", options.kith, "learn", folder / "some.kith", "--seed", 1)
        found = {}
        for name, faces in sets.items():
            place = folder / name.replace(" ", "")
            place.mkdir()
            ways = asked(options.kith, folder / "some.kith", folder / "draws.ndjson", data, place, faces.astype(np.float32))
            for way, p in ways.items():
                found[way, name] = np.array(p)
                print(f"  {name:18} {way:20} least {min(p):.4f} mean {np.mean(p):.4f}", flush=True)
        print("\n| | " + " | ".join(sets) + " | falls |\n|---|" + "---|" * (len(sets) + 1))
        for way in ways:
            cells = [f"{found[way, name].min():.3f} ({found[way, name].mean():.3f})" for name in sets]
            at = np.array([found[way, f"c = {c}"] for c in FACTORS])
            falls = int((at[1:] < at[:-1] - 0.01).sum())
            print(f"| {way} | " + " | ".join(cells) + f" | {falls} |", flush=True)


if __name__ == "__main__":
    main()
