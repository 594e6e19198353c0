"""Bursts, copies, and libraries in which hardly anybody is seen twice: who comes out whole, and who is surely joined wrongly. Run by hand.

    cargo build --release && python3 bench/shots.py DATASET... --kith target/release/kith [--other FORMER] [--only NAME]

From each DATASET (embeddings.npy, faces.csv with `truth`) 300 people at random with at most eight photos each are taken. A photo becomes
a burst of frames that differ from it by a share of what photos of a person differ by, in variance: residuals of people of four photos and
more, signed at random. Other libraries have one photo of everybody, and so many pairs. kith is run with nothing but defaults, HDBSCAN
gets the better of min_cluster_size 2 and 5. A pair is sure where nine of ten draws have it together. Needs numpy and scikit-learn.
"""

import argparse
import csv
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from crowds import hdbscan
from sklearn.metrics import adjusted_rand_score


def people(truth, rng, most_people, most_photos):
    """Rows of some people, at random."""
    rows = {}
    for row, person in enumerate(truth):
        rows.setdefault(person, []).append(row)
    names = list(rows)
    rng.shuffle(names)
    return np.concatenate([rng.permutation(rows[name])[:most_photos] for name in names[:most_people]])


def unit(faces):
    return faces / np.linalg.norm(faces, axis=1, keepdims=True)


def bursts(faces, truth, frames, share, rng):
    """Each photo as `frames(rng)` frames."""
    several = [np.flatnonzero(truth == person) for person in np.unique(truth)]
    residuals = np.concatenate([faces[rows] - faces[rows].mean(0) for rows in several if len(rows) >= 4])
    shown, who = [], []
    for face, person in zip(faces, truth):
        for _ in range(frames(rng)):
            noise = residuals[rng.integers(len(residuals), size=4)] * rng.choice([-1, 1], size=(4, 1)) / 2
            shown.append(face + np.sqrt(share) * noise.sum(0))
            who.append(person)
    return unit(np.array(shown)), np.array(who)


def seldom(faces, truth, n_faces, n_pairs, rng):
    """Everybody once, and two photos of `n_pairs` people."""
    rows = {}
    for row, person in enumerate(truth):
        rows.setdefault(person, []).append(row)
    several = [person for person in rows if len(rows[person]) > 1]
    rng.shuffle(several)
    twice = several[:n_pairs]
    once = [person for person in rows if person not in set(twice)]
    rng.shuffle(once)
    chosen = [row for person in twice for row in rows[person][:2]]
    chosen += [rows[person][0] for person in once[: n_faces - len(chosen)]]
    return faces[chosen], truth[chosen]


def libraries(faces, truth):
    some = people(truth, np.random.default_rng(1), 300, 8)
    photos, who = unit(faces[some]), truth[some]
    yield "photos", photos, who
    for name, frames, share in (
        ("everything twice", lambda _: 2, 0.0),
        ("bursts of 5, share 0.02", lambda _: 5, 0.02),
        ("bursts of 1 to 8, share 0.1", lambda rng: rng.integers(1, 9), 0.1),
        ("bursts of 1 to 8, share 0.3", lambda rng: rng.integers(1, 9), 0.3),
        ("bursts of 1 to 8, share 0.5", lambda rng: rng.integers(1, 9), 0.5),
        ("one photo in twenty four times, share 0.05", lambda rng: 4 if rng.random() < 0.05 else 1, 0.05),
        ("one in five four times, share 0.05", lambda rng: 4 if rng.random() < 0.2 else 1, 0.05),
    ):
        yield name, *bursts(photos, who, frames, share, np.random.default_rng(2))
    for n_faces, n_pairs in ((10_000, 0), (500, 0), (1000, 60), (1000, 250), (300, 10), (64, 8)):
        yield f"once, at most {n_faces}, {n_pairs} pairs", *seldom(faces, truth, n_faces, n_pairs, np.random.default_rng(3))


def fitted(kith, faces, truth, folder):
    """ARI, people, sure pairs, wrong ones among them, seconds."""
    np.save(folder / "embeddings.npy", faces.astype(np.float32))
    (folder / "faces.csv").write_text("truth\n" + "".join(f"{person}\n" for person in truth))
    draws, begun = folder / "draws.ndjson", time.time()
    done = subprocess.run([kith, "fit", folder, "--draws", draws, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    labels = np.array([json.loads(line)["identities"] for line in draws.read_text().splitlines()[1:]])
    sure = wrong = 0
    # A sure pair is together in the first draw, if that is not one of the few that part it.
    for members in (np.flatnonzero(labels[0] == identity) for identity in np.unique(labels[0])):
        share = np.zeros((len(members), len(members)), np.float32)
        for draw in labels[:, members]:
            share += draw[:, None] == draw[None]
        is_sure = np.triu(share >= 0.9 * len(labels), 1)
        sure += is_sure.sum()
        wrong += (is_sure & (truth[members][:, None] != truth[members][None])).sum()
    found = json.loads(done.stdout)
    return adjusted_rand_score(truth, found["partition"]), found["n_identities"]["mean"], sure, wrong, time.time() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--kith", default="kith")
    parser.add_argument("--other", help="a former program, to compare with")
    parser.add_argument("--only", default="", help="libraries whose name has this in it")
    options = parser.parse_args()
    programs = [options.other] * bool(options.other) + [options.kith]
    print("| network | library | faces, people | kith: ARI (people; sure pairs, wrong; seconds) | HDBSCAN |\n|---|---|---|---|---|")
    for dataset in options.datasets:
        faces = np.load(dataset / "embeddings.npy").astype(float)
        truth = np.array([row["truth"] for row in csv.DictReader(open(dataset / "faces.csv"))])
        for name, shown, who in libraries(faces, truth):
            if options.only not in name:
                continue
            found = []
            for program in programs:
                with tempfile.TemporaryDirectory() as place:
                    ari, n_people, sure, wrong, seconds = fitted(program, shown, who, Path(place))
                found.append(f"{ari:.3f} ({n_people:.0f}; {sure}, {wrong}; {seconds:.0f})")
            cells = [dataset.name, name, f"{len(who)}, {len(set(who))}", " -> ".join(found), f"{hdbscan(shown, who):.3f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
