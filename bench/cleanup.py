"""The ten-minute clean-up: how many clicks and key presses until 95 % of the faces have their right name. Run by hand.

    cargo build --release && python3 bench/cleanup.py --kith target/release/kith LIB TRUTH.csv [--wrong 0.05] [--seed 1]

LIB is a library that was learnt and in which nothing was said; it is copied. TRUTH.csv has the columns face (the id) and truth.
A scripted owner answers what the page asks, through its API, and errs in one answer of twenty. Counted are the presses a hand makes:

- "Who is this?": a name that is new is typed (its letters) and Enter; a name that the page knows is begun until it is the first
  completion, then Tab and Enter. "Same person?": one key. Skipping a face that the owner does not know: Alt+S, two keys.
- When no question is left: what the page lists as a slip, one key to take back (and the name again) or to keep; then everybody with a
  name is opened (one click), a wrong name is noticed and given again (a click, the name), and who looks like them and is them is
  joined (one click each, of the four that are shown); then people without a name, the largest first: one click, the name as above.
- The others' flow, on the same clusters as kith's own before anything was said: as Immich and digiKam have it, every cluster is
  opened (one click), its name field is clicked, the name is typed or completed as above and Enter pressed; a second cluster of the same
  person is merged by giving the same name (Immich then asks whether to merge: one click more); a face that is in the wrong
  cluster is put right by itself: selected (one click), reassigned (one click), the person chosen (completion, Enter). Clusters
  are taken by size, wrong faces of a cluster before the next one. Nothing is asked and nothing spreads. The same share of names is
  wrong; a wrong one is noticed and given again, at the same price.

Printed are the presses of both until 95 % of the faces whose truth occurs at least twice are named right.
"""

import argparse
import csv
import json
import random
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter, defaultdict
from pathlib import Path

GOAL = 0.95


class Page:
    def __init__(self, kith, library):
        command = [kith, "serve", str(library), "--port", "0"]
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
            time.sleep(0.05)

    def clusters(self):
        """Faces by person, and what each is called."""
        faces, name = {}, {}
        people = self.ask("people?n=1000")
        for start in range(0, people["total"], 1000):
            for person in self.ask(f"people?n=1000&from={start}")["people"]:
                name[person["person"]] = person["name"]
                found = self.ask(f"people/{person['person']}/faces?n=1000").get("faces", [])
                faces[person["person"]] = [face["face"] for face in found]
        return faces, name

    def end(self):
        self.process.terminate()
        self.process.wait()


def typed(name, known):
    """Presses for a name: begun until it is the first completion, then Tab and Enter; or all its letters and Enter."""
    if name not in known:
        return len(name) + 1
    order = sorted(known, key=lambda other: (-known[other], other))
    for n in range(1, len(name) + 1):
        fitting = [other for other in order if any(part.lower().startswith(name[:n].lower()) for part in [other, *other.split()])]
        if fitting and fitting[0] == name:
            return min(n + 2, len(name) + 1)
    return len(name) + 1


def right(faces, name, truth, counted):
    """The share of the counted faces whose person has their name."""
    called = {face: name[person] for person, members in faces.items() for face in members}
    return sum(called.get(face) == truth[face] for face in counted) / len(counted)


class Owner:
    def __init__(self, truth, wrong, seed):
        self.truth, self.wrong, self.random = truth, wrong, random.Random(seed)
        self.names = sorted(set(truth.values()))

    def name(self, face):
        if self.random.random() < self.wrong:
            return self.random.choice(self.names)
        return self.truth.get(face)

    def same(self, a, b):
        answer = self.truth.get(a) == self.truth.get(b) and a in self.truth
        return answer != (self.random.random() < self.wrong)


def with_kith(page, owner, counted, most):
    presses, known, answers, share = 0, Counter(), 0, 0.0
    skipped = set()
    while answers < most:
        page.rest()
        queue = [one for one in page.ask("questions?n=30")["questions"] if one["face"]["row"] not in skipped]
        if not queue:
            break
        question = queue[0]
        face = question["face"]
        answers += 1
        if question["ask"] == "same":
            kind = "same" if owner.same(face["face"], question["other"]["face"]) else "different"
            page.ask("acts", {"kind": kind, "face": face["row"], "other": question["other"]["row"]})
            presses += 1
        elif (name := owner.name(face["face"])) is None:
            skipped.add(face["row"])
            presses += 2
        else:
            page.ask("acts", {"kind": "name", "faces": [face["row"]], "name": name})
            presses += typed(name, known)
            known[name] += 1
        if answers % 5 == 0:
            page.rest()
            share = right(*page.clusters(), owner.truth, counted)
            print(f"  {answers} answers, {presses} presses: {share:.1%}", flush=True)
            if share >= GOAL:
                return presses, answers, share
    return by_hand(page, owner, counted, known, presses, answers)


def by_hand(page, owner, counted, known, presses, answers):
    """What is left when no question is: slips, and people without a name."""
    page.rest()
    for slip in page.ask("doubt")["slips"]:
        presses, answers = presses + 1, answers + 1
        face = slip["faces"][0]
        if slip["kind"] == "name" and owner.truth.get(face["face"]) not in (None, slip["name"]):
            page.ask("undo", {"act": slip["act"]})
            name = owner.truth[face["face"]]
            page.ask("acts", {"kind": "name", "faces": [face["row"]], "name": name})
            presses += 1 + typed(name, known)
            known[name] += 1
    page.rest()
    share = right(*page.clusters(), owner.truth, counted)
    print(f"  slips: {answers} answers, {presses} presses: {share:.1%}", flush=True)
    for person in page.ask("people?standing=named&n=1000")["people"]:
        if share >= GOAL:
            break
        presses += 1
        shown = page.ask(f"faces/{person['picture']}").get("face")
        if owner.truth.get(shown, person["name"]) != person["name"]:
            name = owner.truth[shown]
            page.ask("acts", {"kind": "name", "person": person["person"], "name": name})
            presses, answers = presses + 2 + typed(name, known), answers + 1
            known[name] += 1
            person["name"] = name
        for other in page.ask(f"people/{person['person']}").get("alike", [])[:4]:
            mine, theirs = (page.ask(f"faces/{one['picture']}").get("face") for one in (person, other))
            # One who errs overlooks somebody; nobody joins all whom they look at.
            is_same = mine in owner.truth and owner.truth[mine] == owner.truth.get(theirs)
            if other["name"] != person["name"] and is_same and owner.random.random() >= owner.wrong:
                page.ask("acts", {"kind": "join", "person": other["person"], "into": person["person"]})
                presses, answers = presses + 1, answers + 1
    page.rest()
    share = right(*page.clusters(), owner.truth, counted)
    print(f"  look-alikes: {answers} answers, {presses} presses: {share:.1%}", flush=True)
    looked_at = set()
    while share < GOAL:
        people = [one for standing in ("familiar", "stranger") for one in page.ask(f"people?standing={standing}&n=1000")["people"]]
        people = [one for one in people if one["picture"] not in looked_at][:10]
        if not people:
            break
        for one in people:
            looked_at.add(one["picture"])
            face = page.ask(f"faces/{one['picture']}").get("face")
            answers, presses = answers + 1, presses + 1
            if (name := owner.name(face)) is not None:
                page.ask("acts", {"kind": "name", "faces": [one["picture"]], "name": name})
                presses += typed(name, known)
                known[name] += 1
        page.rest()
        share = right(*page.clusters(), owner.truth, counted)
        print(f"  by hand: {answers} answers, {presses} presses: {share:.1%}", flush=True)
    return presses, answers, share


def cluster_by_cluster(faces, owner, counted):
    presses, acts, known, called, told = 0, 0, Counter(), {}, 0.5
    wanted = set(counted)
    for members in sorted(faces.values(), key=len, reverse=True):
        counts = Counter(owner.truth[face] for face in members if face in owner.truth)
        if not counts:
            continue
        best = counts.most_common(1)[0][0]
        name = best if owner.random.random() >= owner.wrong else owner.random.choice(owner.names)
        presses += 2 + typed(name, known) + (1 if name in known else 0)
        acts += 1
        known[name] += 1
        if name != best:
            presses += 2 + typed(best, known)
            acts += 1
            known[best] += 1
        called.update({face: best for face in members})
        for face in members:
            if owner.truth.get(face, best) != best:
                other = owner.truth[face]
                presses += 2 + typed(other, known)
                acts += 1
                called[face] = other
                known[other] += 1
        share = sum(called.get(face) == owner.truth[face] for face in wanted) / len(wanted)
        if share >= told:
            print(f"  cluster by cluster: {acts} acts, {presses} presses: {share:.1%}", flush=True)
            told = share + 0.025
        if share >= GOAL:
            break
    return presses, acts, share


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--kith", default="target/release/kith")
    parser.add_argument("--wrong", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=400, help="answers")
    options = parser.parse_args()
    with open(options.truth, newline="") as file:
        truth = {row["face"]: row["truth"] for row in csv.DictReader(file) if row["truth"]}
    often = defaultdict(int)
    for name in truth.values():
        often[name] += 1
    counted = [face for face, name in truth.items() if often[name] > 1]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "copy.kith"
        shutil.copy(options.library, library)
        page = Page(options.kith, library)
        try:
            page.rest()
            faces, _ = page.clusters()
            theirs = cluster_by_cluster(faces, Owner(truth, options.wrong, options.seed), counted)
            ours = with_kith(page, Owner(truth, options.wrong, options.seed), counted, options.most)
        finally:
            page.end()
    for title, (presses, acts, share) in [("cluster by cluster", theirs), ("kith's questions", ours)]:
        print(f"{title}: {presses} presses in {acts} acts, {share:.1%} of {len(counted)} faces named right")
    print(f"ratio {ours[0] / theirs[0]:.2f}")


if __name__ == "__main__":
    main()
