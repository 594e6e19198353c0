"""The ten-minute clean-up: how many clicks and key presses until 95 % of the faces have their right name. Run by hand.

    cargo build --release && python3 bench/cleanup.py LIB TRUTH.csv [--contacts NAMES.txt] [--seeds 1 2 3] [--wrong 0.05]

LIB is a library that was learnt and in which nothing was said; it is copied. TRUTH.csv has the columns face (the id) and truth. Counted
are faces whose truth occurs at least twice. A scripted owner errs in one decision of twenty, and every press of a hand is counted,
letters of names apart from the rest.

Through kith's page, by its API, in the order in which it asks:
- "Who is this?": letters until the name is among the six that are shown (which is asked of the page itself), and Enter or a click on it;
  Esc for a face that the owner does not know. "Same person?": one key. "Are these them?": one key for each
  that is to be picked or left otherwise than proposed, and Enter.
- Photos are called IMG_1.jpg and so on, since names that files carry are offered too (--file-names leaves them as they are).
- An address book (--contacts, a name on each line) is chosen once: three clicks.
- Named people stand below the question. After every tenth answer the owner looks over them, which takes no press; a wrong name that is
  seen there is mended: a click on the person, the name as above, Enter. Nobody finds single faces in the wrong group. Before that
  row was there a look took four keys (g p, and g q to go on) and mending a click more: what that comes to is printed beside it.

The others' way, on two groupings, after what Immich and digiKam write of theirs (docs.immich.app/features/facial-recognition and pull request
3399; docs.digikam.org, People View), not counted in their programs; where that is silent the cheaper way is taken: groups by size, each named in the list itself (a click into its field), letters,
Enter. They know no address book; a name that was given before is taken from the list as soon as it is among the first six that
fit, and the merge that is then proposed is confirmed with a click. A face in the wrong group: it is selected, "reassign"
is clicked, the person chosen by letters and Enter, or by Enter alone. A wrong name is seen at once where it stands and typed again (a
click, the name). Faces in no group: the photo is opened, its faces edited, the face chosen (three clicks), the person as above,
and closed (a click).
- "their groups": as Immich groups (a face with at least three within the distance founds a person or joins the nearest one; the
  others join the nearest person), on the same embeddings, with the best of several distances; its default is 0.5.
- "kith's groups": what kith had learnt before anything was said, with nobody in none; and the same if their fields completed names of the
  address book, which they do not: it shows what of the difference is the address book's.
"""

import argparse
import csv
import json
import random
import shutil
import sqlite3
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from contextlib import closing
from pathlib import Path

GOAL = 0.95
# Names that a field shows at once.
SHOWN = 6


class Page:
    def __init__(self, kith, library, contacts):
        command = [kith, "serve", str(library), "--port", "0"] + (["--names", str(contacts)] if contacts else [])
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.base, self.token = self.process.stdout.readline().strip().split("/enter/")

    def ask(self, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{self.base}/api/v1/{path}", data, headers)) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            # Somebody who was there a moment ago may be somebody else by now.
            return json.load(error)

    def rest(self):
        """Waits until what was said has been taken in: an owner who thinks for a moment."""
        while True:
            status = self.ask("status")
            if status["believes"] and status["doing"] in ("resting", "learning"):
                return
            time.sleep(0.02)

    def people(self, standing=""):
        return self.ask(f"people?n=1000{standing}")["people"]

    def faces(self, person):
        return [face["face"] for face in self.ask(f"people/{person['person']}/faces?n=1000").get("faces", [])]

    def letters(self, name, face):
        """Letters until Enter takes the name, or a click into the list."""
        for n in range(len(name)):
            query = urllib.parse.urlencode({"n": SHOWN, "q": name[:n], "face": face})
            if name in [one["name"] for one in self.ask(f"names?{query}")["names"]]:
                return n
        return len(name)

    def end(self):
        self.process.terminate()
        self.process.wait()


class Owner:
    """Who knows the truth, errs now and then, and counts."""

    def __init__(self, truth, wrong, seed):
        self.truth, self.wrong, self.random = truth, wrong, random.Random(seed)
        self.names = sorted(set(truth.values()))
        self.letters = self.others = self.acts = self.looks = self.mended = 0

    def errs(self):
        return self.random.random() < self.wrong

    def name(self, face):
        right = self.truth.get(face)
        return self.random.choice(self.names) if right is not None and self.errs() else right

    def same(self, a, b):
        return (a in self.truth and self.truth[a] == self.truth.get(b)) != self.errs()

    def presses(self, others=0, letters=0):
        self.others, self.letters = self.others + others, self.letters + letters

    def total(self):
        return self.others + self.letters


def with_kith(page, owner, counted, has_contacts, most=400):
    passed, share = [], 0.0
    key = {}

    def face_of(row):
        if row not in key:
            key[row] = page.ask(f"faces/{row}").get("face")
        return key[row]

    def called():
        return {face: person["name"] for person in page.people("&standing=named") for face in page.faces(person)}

    owner.presses(others=3 if has_contacts else 0)
    while owner.acts < most and share < GOAL:
        page.rest()
        found = page.ask("questions?n=12" + (f"&without={','.join(map(str, passed))}" if passed else ""))
        questions, pieces = found["questions"], found["pieces"]
        if not questions and not pieces:
            break
        owner.acts += 1
        if sum(one["worth"] for one in pieces) > (questions[0]["gain"] if questions else 0):
            judged = [owner.same(face_of(one["piece"]["picture"]), face_of(one["of"]["picture"])) for one in pieces]
            pairs = [[one["piece"]["person"], one["of"]["person"]] for one, is_same in zip(pieces, judged) if is_same]
            owner.presses(others=1 + sum(one["picked"] != is_same for one, is_same in zip(pieces, judged)))
            passed += [one["piece"]["picture"] for one in pieces]
            if pairs:
                page.ask("acts", {"kind": "join_all", "pairs": pairs})
        else:
            question = questions[0]
            face, row = question["face"]["face"], question["face"]["row"]
            if question["ask"] == "same":
                kind = "same" if owner.same(face, question["other"]["face"]) else "different"
                page.ask("acts", {"kind": kind, "face": row, "other": question["other"]["row"]})
                owner.presses(others=1)
            elif (name := owner.name(face)) is None:
                passed.append(row)
                owner.presses(others=1)
            else:
                owner.presses(others=1, letters=page.letters(name, row))
                page.ask("acts", {"kind": "name", "faces": [row], "name": name})
        page.rest()
        share = right(called(), owner.truth, counted)
        if owner.acts % 10 == 0 and share < GOAL:
            look_over(page, owner)
            share = right(called(), owner.truth, counted)
            print(f"    {owner.acts} acts, {owner.total()} presses: {share:.1%}", flush=True)
    if share < GOAL:
        look_over(page, owner)
        share = right(called(), owner.truth, counted)
    return share


def look_over(page, owner):
    """Everybody with a name is looked at; wrong names are mended."""
    owner.looks += 1
    for person in page.people("&standing=named"):
        truths = Counter(owner.truth[face] for face in page.faces(person) if face in owner.truth)
        name = truths.most_common(1)[0][0] if truths else person["name"]
        if name != person["name"]:
            owner.presses(others=2, letters=page.letters(name, person["picture"]))
            owner.acts += 1
            owner.mended += 1
            page.ask("acts", {"kind": "name", "person": person["person"], "name": name})
    page.rest()


def right(called, truth, counted):
    return sum(called.get(face) == truth[face] for face in counted) / len(counted)


def completed(name, known):
    """Letters for a name in the others' fields: all of them, or those after which it is among the first that fit."""
    order = sorted(known, key=lambda other: (-known[other], other))
    for n in range(1, len(name)):
        if name in [other for other in order if other.lower().startswith(name[:n].lower())][:SHOWN]:
            return n
    return len(name)


def cluster_by_cluster(groups, loose, owner, counted, contacts=()):
    known, called = Counter(dict.fromkeys(contacts, 0)), {}

    def give(name, clicks):
        owner.presses(others=clicks + 1, letters=completed(name, known))
        owner.acts += 1
        known[name] += 1

    for members in sorted(groups, key=len, reverse=True):
        counts = Counter(owner.truth[face] for face in members if face in owner.truth)
        # Groups of nobody whom the owner knows are passed over for nothing.
        if not counts:
            continue
        best = counts.most_common(1)[0][0]
        if owner.errs():
            give(owner.random.choice(owner.names), 1)
        give(best, 1 + (known[best] > 0))
        called.update(dict.fromkeys(members, best))
        if right(called, owner.truth, counted) >= GOAL:
            break
        for face in members:
            if owner.truth.get(face, best) != best:
                give(owner.truth[face], 2)
                called[face] = owner.truth[face]
    for face in loose:
        if right(called, owner.truth, counted) >= GOAL:
            break
        if face in owner.truth and face in counted:
            give(owner.truth[face], 4)
            called[face] = owner.truth[face]
    return right(called, owner.truth, counted)


def immich(library, distance, least=3):
    """Groups as Immich's published way of recognising has them."""
    import numpy as np

    rows = sqlite3.connect(library).execute("SELECT key, embedding FROM faces ORDER BY id").fetchall()
    looks = np.array([np.frombuffer(looks, "<f4") for _, looks in rows])
    looks /= np.linalg.norm(looks, axis=1, keepdims=True)
    far = 1 - looks @ looks.T
    person = [None] * len(rows)
    n_people = 0
    later = []
    for is_later in (False, True):
        for face in later if is_later else range(len(rows)):
            near = [other for other in np.argsort(far[face], kind="stable") if far[face, other] <= distance]
            is_core = len(near) >= least
            if not is_core and not is_later:
                later.append(face)
                continue
            found = next((person[other] for other in near if person[other] is not None), None)
            if found is None and is_core:
                found, n_people = n_people, n_people + 1
            person[face] = found
    groups = [[rows[k][0] for k in range(len(rows)) if person[k] == number] for number in range(n_people)]
    return groups, [rows[k][0] for k in range(len(rows)) if person[k] is None]


def run(options, truth, counted, seed):
    def told(title, owner, share):
        print(f"  {title}: {owner.total()} presses ({owner.letters} letters, {owner.others} others), {owner.acts} acts, {share:.1%}", flush=True)
        return owner.total(), owner.others

    rivals = {}
    best = None
    for distance in options.distances:
        owner = Owner(truth, options.wrong, seed)
        share = cluster_by_cluster(*immich(options.library, distance), owner, counted)
        if share >= GOAL and (best is None or owner.total() < best[0].total()):
            best = owner, share, distance
    if best:
        rivals["their groups"] = told(f"their groups (distance {best[2]})", *best[:2])
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "copy.kith"
        shutil.copy(options.library, library)
        if not options.file_names:
            with closing(sqlite3.connect(library)) as base, base:
                base.execute("UPDATE photos SET key = 'IMG_' || id || '.jpg'")
        page = Page(options.kith, library, options.contacts)
        try:
            page.rest()
            owner = Owner(truth, options.wrong, seed)
            groups = [page.faces(person) for person in page.people()]
            share = cluster_by_cluster(groups, [], owner, counted)
            rivals["kith's groups"] = told("kith's groups, the others' way", owner, share)
            if options.contacts:
                owner = Owner(truth, options.wrong, seed)
                names = options.contacts.read_text().splitlines()
                share = cluster_by_cluster(groups, [], owner, counted, names)
                rivals["that with the address book"] = told("that, had they the address book", owner, share)
            owner = Owner(truth, options.wrong, seed)
            ours = told("kith's page", owner, with_kith(page, owner, counted, bool(options.contacts)))
            print(f"    of that {owner.mended} names mended; counted as before {owner.total() + 4 * owner.looks + owner.mended}")
        finally:
            page.end()
    return {title: (ours[0] / total, ours[1] / others) for title, (total, others) in rivals.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--kith", default="target/release/kith")
    parser.add_argument("--contacts", type=Path, help="names of an address book, one on each line")
    parser.add_argument("--file-names", action="store_true", help="photos keep the names of their files")
    parser.add_argument("--wrong", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--distances", type=float, nargs="+", default=[0.4, 0.45, 0.5, 0.55, 0.6])
    options = parser.parse_args()
    with open(options.truth, newline="") as file:
        truth = {row["face"]: row["truth"] for row in csv.DictReader(file) if row["truth"]}
    often = Counter(truth.values())
    counted = [face for face, name in truth.items() if often[name] > 1]
    ratios = []
    for seed in options.seeds:
        print(f"seed {seed}: {len(counted)} faces of {sum(n > 1 for n in often.values())} people")
        ratios.append(run(options, truth, counted, seed))
        print(f"  presses against {', '.join(f'{title} {a:.2f} (without letters {b:.2f})' for title, (a, b) in ratios[-1].items())}")


if __name__ == "__main__":
    main()
