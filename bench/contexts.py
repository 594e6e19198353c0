"""Which rule for the contexts of photos helps: made-up lives of real faces, learnt with each. Run by hand.

    cargo build --release
    python3 bench/contexts.py --kith target/release/kith FOLDER [--days 160] [--seeds 4] [--loose 0]

FOLDER has embeddings.npy and faces.csv (face, truth). Somebody takes photos at home (6 people), at work
(12), in a club (10) and on trips, each day at one of them, one to five photos a day with one to four people
each. At a place most are of its circle, a tenth are friends from other circles, some are never seen again;
every trip goes somewhere else, with two friends. Two thirds of the photos carry a place. Folders are months,
or a place in a month. With `--loose 1` nobody belongs anywhere: all 28 may be met everywhere, which shows
what contexts cost where they mean nothing. Photos of the last fifth of the days are asked about; the others
are learnt from, with three named photos of each of the 28. `truth` is read for choosing and judging, never
given to kith. ARI is over all faces that were learnt from, `right` the share of new faces whose most
probable name (or nobody known) is right, `nats` the mean of -ln of what was said of the truth. Needs numpy.
"""

import csv
import json
import math
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from calibration import read, read_options, run

CIRCLES = {"home": 6, "work": 12, "club": 10}
#: How often a day is spent where.
DAYS = {"home": 0.4, "work": 0.2, "club": 0.1, "elsewhere": 0.3}
FRIEND, STRANGER = 0.10, 0.07
RULES = ["none", "place", "month", "place in month", "day"]
NAMED = 3


class World:
    """Who is met where, and whose photos are left."""

    def __init__(self, truth, is_loose, rng):
        self.rng, self.is_loose = rng, is_loose
        rows_of = defaultdict(list)
        for row, person in enumerate(truth):
            rows_of[person].append(row)
        self.photos = {person: list(rng.permutation(rows)) for person, rows in sorted(rows_of.items())}
        most = sorted(self.photos, key=lambda person: (-len(self.photos[person]), person))
        many = most[: sum(CIRCLES.values())]
        others = [person for person in self.photos if person not in set(many)]
        self.strangers = [others[k] for k in rng.permutation(len(others))]
        rng.shuffle(many)
        self.friends, self.circles, first = many, {}, 0
        for place, n in CIRCLES.items():
            self.circles[place], first = many[first : first + n], first + n

    def who(self, circle):
        """Somebody who turns up: of the circle the first more often than the last."""
        chance = self.rng.random()
        if chance < STRANGER and self.strangers:
            return self.strangers.pop()
        pool = self.friends if chance < STRANGER + FRIEND or self.is_loose else circle
        weights = 1 / (1 + np.arange(len(pool)))
        return pool[self.rng.choice(len(pool), p=weights / weights.sum())]

    def photo(self, circle):
        """People, each with a photo that was not dealt before."""
        wanted = {self.who(circle) for _ in range(1 + self.rng.choice(4, p=[0.5, 0.3, 0.15, 0.05]))}
        return [(person, self.photos[person].pop()) for person in sorted(wanted) if self.photos[person]]


def life(world, n_days):
    """Photos: the day, what each rule calls its context, and who is on it."""
    rng, photos = world.rng, []
    for day in range(n_days):
        place = rng.choice(list(DAYS), p=list(DAYS.values()))
        two = [world.friends[k] for k in rng.choice(len(world.friends), 2, replace=False)]
        for _ in range(rng.integers(1, 6)):
            faces, has_place = world.photo(world.circles.get(place, two)), rng.random() < 2 / 3
            context = {"none": "", "place": place if has_place else "", "month": f"month {day // 30}"}
            context |= {"place in month": f"{place} in month {day // 30}", "day": f"day {day}"}
            photos.append({"day": day, "context": context, "faces": faces})
    return photos


def write(folder, x, photos, rule, names):
    folder.mkdir()
    rows = [row for photo in photos for _, row in photo["faces"]]
    np.save(folder / "embeddings.npy", x[rows])
    with open(folder / "faces.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["face", "frame", "context", "name"])
        for k, photo in enumerate(photos):
            for _, row in photo["faces"]:
                out.writerow([f"f{row}", f"{folder.name}{k}", photo["context"][rule], names.get(row, "")])
    return folder


def ari(truth, found):
    """The adjusted Rand index."""

    def pairs(counts):
        return sum(n * (n - 1) / 2 for n in counts)

    table, a, b = defaultdict(int), defaultdict(int), defaultdict(int)
    for one, other in zip(truth, found, strict=True):
        table[one, other] += 1
        a[one] += 1
        b[other] += 1
    both, of_a, of_b = pairs(table.values()), pairs(a.values()), pairs(b.values())
    expected = of_a * of_b / pairs([len(truth)])
    return (both - expected) / ((of_a + of_b) / 2 - expected)


def judged(kith, x, old, new, rule, names):
    """ARI, the share of new faces called rightly, and nats, with one rule."""
    person_of = {f"f{row}": person for photo in old + new for person, row in photo["faces"]}
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        library = place / "family.kith"
        run(kith, "add", library, write(place / "old", x, old, rule, names))
        run(kith, "learn", library, "--seed", 1)
        people = [json.loads(line) for line in run(kith, "people", library, "--json").splitlines()]
        of_face = {face["face"]: person["person"] for person in people for face in person["faces"]}
        asked = run(kith, "who", library, write(place / "new", x, new, rule, {}), "--json").splitlines()
    faces = sorted(of_face)
    index = ari([person_of[face] for face in faces], [of_face[face] for face in faces])
    known, right, nats = set(names.values()), [], []
    for answer in map(json.loads, asked):
        truth = person_of[answer["face"]]
        p = {name["name"]: name["p"] for name in answer["names"]} | {None: answer["unknown_name"]}
        truth = truth if truth in known else None
        right.append(max(p, key=p.get) == truth)
        nats.append(-math.log(max(p.get(truth, 0.0), 1e-6)))
    return index, np.mean(right), np.mean(nats), len(faces), len(right)


def named(photos, friends):
    """The first photos of each friend carry the name."""
    left, names = dict.fromkeys(friends, NAMED), {}
    for photo in photos:
        for person, row in photo["faces"]:
            if left.get(person, 0) > 0:
                left[person] -= 1
                names[row] = person
    return names


def main():
    options = read_options(__doc__, days=160, seeds=4, loose=0)
    x, truth = read(options.folder)
    print("rule           ARI    right  nats   (faces learnt from, asked about)")
    found = defaultdict(list)
    for seed in range(options.seed, options.seed + options.seeds):
        world = World(truth, options.loose == 1, np.random.default_rng(seed))
        photos = [photo for photo in life(world, options.days) if photo["faces"]]
        old = [photo for photo in photos if photo["day"] < 0.8 * options.days]
        new = [photo for photo in photos if photo["day"] >= 0.8 * options.days]
        for rule in RULES:
            found[rule].append(judged(options.kith, x, old, new, rule, named(old, world.friends)))
            *shares, n_old, n_new = found[rule][-1]
            print(f"  seed {seed} {rule:14}", *(f"{share:.3f}" for share in shares), n_old, n_new, flush=True)
    for rule in RULES:
        index, right, nats = np.mean([of[:3] for of in found[rule]], axis=0)
        print(f"{rule:14} {index:.3f}  {right:.3f}  {nats:.3f}")


if __name__ == "__main__":
    main()
