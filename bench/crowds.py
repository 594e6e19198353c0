"""The default on made-up crowds of many shapes, beside HDBSCAN: who finds the people, and who is sure and wrong. Run by hand.

    cargo build --release && python3 bench/crowds.py --kith target/release/kith [--only bursts] [--json]

A crowd is people with Gaussian means and photos around them: so many dimensions, so many times as wide between people as
within, so many people with so many photos each. kith is run with nothing but defaults. HDBSCAN gets the better of
min_cluster_size 2 and 5 and counts its noise as people seen once; of more points than --peer-most it is not
run, and kith is held to 0.99. A pair is sure where at least nine of ten draws have it together.
Needs numpy and scikit-learn.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score


def sizes(shape, rng):
    """How many photos each person has."""
    kind, people = shape
    if kind == "once":
        return np.ones(people, int)
    if kind == "twelve":
        return np.full(people, 12)
    if kind == "many":
        return np.full(people, 120)
    if kind == "power":
        return np.minimum(rng.zipf(1.8, people), 300)
    raise ValueError(kind)


def gaussian(dimension, ratio, shape, seed):
    """People whose means vary `ratio` times as much as their photos."""
    rng = np.random.default_rng(seed)
    count = sizes(shape, rng)
    truth = np.repeat(np.arange(len(count)), count)
    means = rng.normal(size=(len(count), dimension)) * np.sqrt(ratio)
    photos = means[truth] + rng.normal(size=(len(truth), dimension))
    order = rng.permutation(len(truth))
    return photos[order], truth[order]


def changing(dimension, ratio, shape, change, seed):
    """The same, each person spread evenly along a direction of their own, so many times as far either way as photos vary; and
    as many people once."""
    rng = np.random.default_rng(seed)
    count = np.concatenate([sizes(shape, rng), np.ones(shape[1], int)])
    truth = np.repeat(np.arange(len(count)), count)
    means = rng.normal(size=(len(count), dimension)) * np.sqrt(ratio)
    own = rng.normal(size=(len(count), dimension))
    own *= (change * (count > 1) / np.linalg.norm(own, axis=1))[:, None]
    photos = means[truth] + rng.normal(size=(len(truth), dimension)) + own[truth] * rng.uniform(-1, 1, (len(truth), 1))
    order = rng.permutation(len(truth))
    return photos[order], truth[order]


def bursts(dimension, people, jitter, seed):
    """One photo of each, eight times, moved by a little."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(people, dimension))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    truth = np.repeat(np.arange(people), 8)
    photos = means[truth] + rng.normal(size=(len(truth), dimension)) * jitter / np.sqrt(dimension)
    order = rng.permutation(len(truth))
    return photos[order], truth[order]


def crowds():
    """A name, and what makes the crowd."""
    for dimension in (16, 64, 128, 512):
        for ratio in (0.5, 2, 20, 1000):
            for shape in (("once", 200), ("twelve", 8), ("twelve", 100), ("many", 6), ("power", 300)):
                yield f"D {dimension}, ratio {ratio}, {shape[1]} {shape[0]}", gaussian, (dimension, ratio, shape)
    for dimension, people, ratio in ((128, 1000, 20), (128, 5000, 20), (512, 5000, 2), (512, 5000, 20), (16, 5000, 20)):
        yield f"D {dimension}, ratio {ratio}, {people} power", gaussian, (dimension, ratio, ("power", people))
    yield "D 512, ratio 2, 5000 once", gaussian, (512, 2, ("once", 5000))
    for dimension in (48, 128, 512):
        for shape, change in ((("many", 25), 6), (("many", 25), 10), (("power", 300), 8), (("twelve", 100), 8)):
            yield f"changing by {change}, D {dimension}, ratio 4, {shape[1]} {shape[0]}", changing, (dimension, 4, shape, change)
    for people in (8, 30):
        for jitter in (0, 0.01, 0.08):
            yield f"bursts, D 128, {people} people, jitter {jitter}", bursts, (128, people, jitter)


def fitted(kith, photos, truth, folder):
    """ARI of the partition, of pairs that are surely one person the share that is not, and whether the chains agreed."""
    np.save(folder / "embeddings.npy", photos.astype(np.float32))
    (folder / "faces.csv").write_text("truth\n" + "".join(f"p{person}\n" for person in truth))
    draws = folder.parent / "draws.ndjson"
    command = [kith, "fit", folder, "--draws", draws, "--json", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    labels = [json.loads(line)["identities"] for line in draws.read_text().splitlines()[1:]]
    labels = np.array(labels)
    rng = np.random.default_rng(0)
    # Pairs that the first draw has together: any other is not sure.
    first = labels[0]
    wrong = sure = 0
    for identity in np.unique(first):
        members = np.flatnonzero(first == identity)
        if len(members) < 2:
            continue
        some = rng.choice(members, (min(200, len(members) ** 2), 2))
        some = some[some[:, 0] != some[:, 1]]
        weight = len(members) * (len(members) - 1) / 2 / max(1, len(some))
        is_sure = (labels[:, some[:, 0]] == labels[:, some[:, 1]]).mean(0) >= 0.9
        sure += weight * is_sure.sum()
        wrong += weight * (is_sure & (truth[some[:, 0]] != truth[some[:, 1]])).sum()
    found = json.loads(done.stdout)
    agreed = "the chains agree" in done.stderr
    return found["ari"]["partition"], found["n_identities"]["mean"], wrong / max(1, sure), agreed


def hdbscan(photos, truth):
    best = -1.0
    for least in (2, 5):
        labels = HDBSCAN(min_cluster_size=least, copy=True).fit_predict(photos)
        labels = np.where(labels < 0, labels.max() + 1 + np.arange(len(labels)), labels)
        best = max(best, adjusted_rand_score(truth, labels))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="kith")
    parser.add_argument("--only", default="", help="crowds whose name has this in it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer-most", type=int, default=20_000, help="HDBSCAN is run on at most so many points")
    options = parser.parse_args()
    print("| crowd | faces, people | kith: ARI | people | sure and wrong | HDBSCAN: ARI | seconds |\n|---|---|---|---|---|---|---|")
    for name, make, settings in crowds():
        if options.only not in name:
            continue
        photos, truth = make(*settings, options.seed)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "crowd"
            folder.mkdir()
            begun = time.time()
            ari, people, wrong, agreed = fitted(options.kith, photos, truth, folder)
            seconds = time.time() - begun
        other = hdbscan(photos, truth) if len(truth) <= options.peer_most else None
        verdict = "" if ari >= (1.0 if other is None else other) - 0.01 and wrong <= 0.1 else " **short**"
        print(
            f"| {name} | {len(truth)}, {len(set(truth))} | {ari:.3f}{verdict} | {people:.0f}{'' if agreed else ', not agreed'} "
            f"| {wrong:.3f} | {'not run' if other is None else f'{other:.3f}'} | {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
