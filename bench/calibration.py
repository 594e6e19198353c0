"""How far probabilities can be believed: strangers and names, at several shares of strangers. Run by hand.

    cargo build --release && python3 bench/calibration.py --kith target/release/kith FOLDER [--people 17] [--photos 15]

FOLDER has embeddings.npy and faces.csv (face, truth). Some people are learnt from, so many photos of each, and named by three of
them; asked about are other photos of theirs and photos of people who are nowhere in the training, mixed so that 5, 20, 47
and 80 % are strangers. `truth` is read for choosing them and for judging, and is never given to kith. Once
together (`predict --new` after `fit`) and once one photo at a time (`who` of a library, each photo by itself; those answers do not
depend on the mixture). Expected calibration error: ten bins of equal width, |mean probability - share that is so|, weighed by
the bins' counts; of the stranger probability, and of the most probable name or "unknown". Needs numpy.
"""

import argparse
import csv
import json
import subprocess
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

SHARES = [0.05, 0.20, 0.47, 0.80]


def read_options(text, **counts):
    """FOLDER, --kith, --seed, and a number for each of `counts`."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kith", default="target/release/kith")
    for name, count in {**counts, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    return parser.parse_args()


def read(folder):
    """Embeddings, and who is on each."""
    with open(folder / "faces.csv") as file:
        return np.load(folder / "embeddings.npy"), [row["truth"] for row in csv.DictReader(file)]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode > 1:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def write(folder, x, rows, names=None):
    """A dataset of some rows, each a frame of its own; `truth` is not among its columns."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "embeddings.npy", x[rows])
    with open(folder / "faces.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["face", "frame", "name"])
        for row in rows:
            out.writerow([f"f{row}", f"p{row}", (names or {}).get(row, "")])
    return folder


def chosen(truth, options, rng):
    """Training rows, their names, new rows of known people, and rows of strangers."""
    rows_of = defaultdict(list)
    for row, person in enumerate(truth):
        rows_of[person].append(row)
    many = sorted(person for person, rows in rows_of.items() if len(rows) >= options.photos + 5)
    rng.shuffle(many)
    known = many[: options.people]
    train, names, familiar = [], {}, []
    for number, person in enumerate(known):
        rows = list(rng.permutation(rows_of[person]))
        train += rows[: options.photos]
        names.update({row: f"Person {chr(65 + number // 26)}{chr(65 + number % 26)}" for row in rows[:3]})
        familiar += rows[options.photos :][:30]
    others = [row for person, rows in rows_of.items() if person not in known for row in rows]
    return train, names, rng.permutation(familiar), rng.permutation(others), known


def error(p, is_so):
    """The expected calibration error, and the mean of both."""
    p, is_so = np.asarray(p), np.asarray(is_so, float)
    bins = np.minimum((10 * p).astype(int), 9)
    gaps = [abs(p[bins == b].mean() - is_so[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
    return sum(gaps), p.mean(), is_so.mean()


def judged(answers, truth, name_of, known):
    """Per face: P(stranger), whether it is one, the probability of the best name or none, whether that is right."""
    out = []
    for face, answer in answers.items():
        row = int(face[1:])
        own = name_of[truth[row]] if truth[row] in known else None
        names = {one["name"]: one["p"] for one in answer["names"]}
        names[None] = answer["unknown_name"]
        best = max(names, key=names.get)
        out.append((answer["stranger"], truth[row] not in known, names[best], best == own))
    return out


def lines(text):
    return {one["face"]: one for one in map(json.loads, text.splitlines())}


def report(what, share, rows):
    stranger, p, is_so = error([row[0] for row in rows], [row[1] for row in rows])
    name, p_name, is_right = error([row[2] for row in rows], [row[3] for row in rows])
    print(f"| {what} | {share:.0%} | {len(rows)} | {stranger:.3f} ({p:.3f}, {is_so:.3f}) | {name:.3f} ({p_name:.3f}, {is_right:.3f}) |", flush=True)


def main():
    options = read_options(__doc__, people=17, photos=15, asked=300, alone=300)
    rng = np.random.default_rng(options.seed)
    x, truth = read(options.folder)
    train, names, familiar, strangers, known = chosen(truth, options, rng)
    name_of = {truth[row]: name for row, name in names.items()}
    print(f"\n{options.folder.name}: {len(known)} people, {len(train)} photos, {len(names)} names; seed {options.seed}")
    print("| asked | strangers | photos | stranger: error (mean p, share) | name: error (mean p, right) |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        data = write(folder / "train", x, train, names)
        run("nice", options.kith, "fit", data, "--draws", folder / "draws.ndjson", "--seed", options.seed)
        for share in SHARES:
            n = min(options.asked, int(len(familiar) / (1 - share)))
            n_strangers = round(share * n)
            rows = list(rng.permutation(np.concatenate([familiar[: n - n_strangers], strangers[:n_strangers]])))
            new = write(folder / f"new{share}", x, rows)
            text = run("nice", options.kith, "predict", data, "--draws", folder / "draws.ndjson", "--new", new, "--json")
            report("together", share, judged(lines(text), truth, name_of, known))
        if options.alone == 0:
            return
        library = folder / "some.kith"
        run(options.kith, "add", library, data)
        run("nice", options.kith, "learn", library, "--seed", options.seed)
        n = options.alone // 2
        photos = [write(folder / "alone" / str(row), x, [row]) for row in [*familiar[:n], *strangers[:n]]]
        with ThreadPoolExecutor(1) as pool:
            texts = list(pool.map(lambda photo: run("nice", options.kith, "who", library, photo, "--json"), photos))
        alone = judged(lines("".join(texts)), truth, name_of, known)
        seen, new = [row for row in alone if not row[1]], [row for row in alone if row[1]]
        for share in SHARES:
            # As many of the rarer kind as make the share.
            n_new = min(len(new), round(len(seen) * share / (1 - share)))
            n_seen = min(len(seen), round(n_new * (1 - share) / share))
            report("one at a time", share, seen[:n_seen] + new[:n_new])


if __name__ == "__main__":
    main()
