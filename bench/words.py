"""What a person says about faces, on real data: corrections are said to the program, and who suffers is counted. Run by hand.

    cargo build --release && python3 bench/words.py --kith target/release/kith FOLDER [--every 2]

FOLDER has embeddings.npy and faces.csv (face, truth). A library is fitted. Of every person in pieces of two photos and more one
photo of each piece is said to be the same as one of the largest. Then, from the fitted library again, every person of at least five
faces is named by one of them; the true thing is said of every face that the partition has wrong, and the library learns again.
Once more with one word in twenty wrong. Needs numpy.
"""

import argparse
import csv
import json
import random
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np


class Library:
    def __init__(self, kith, path, sweeps):
        self.kith, self.path, self.sweeps = kith, Path(path), sweeps

    def run(self, verb, *rest):
        command = [self.kith, verb, str(self.path), *map(str, rest)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode > 1:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def learn(self):
        begun = time.time()
        self.run("learn", "--sweeps", self.sweeps, "--chains", 2, "--seed", 1)
        return time.time() - begun

    def say(self, words):
        with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
            for number, word in enumerate(words):
                print(json.dumps({**word, "by": "owner", "at": number}), file=file)
            file.flush()
            self.run("import", file.name)

    def people(self):
        """The person of every face, and the name of every face's person, none where it is less probable than a half."""
        person, name = {}, {}
        for line in self.run("people", "--json").splitlines():
            one = json.loads(line)
            for face in one["faces"]:
                person[face["face"]] = one["person"]
                name[face["face"]] = one["name"] if (one["p"] or 0) >= 0.5 else None
        return person, name

    def copy(self, path):
        shutil.copy(self.path, path)
        return Library(self.kith, path, self.sweeps)


def judged(person, truth):
    """The person that most faces of each group are, the main group of each person, and which faces are where they belong."""
    groups = {}
    for face, group in person.items():
        groups.setdefault(group, []).append(face)
    majority = {g: Counter(truth[f] for f in faces).most_common(1)[0][0] for g, faces in groups.items()}
    main = {}
    for group, faces in sorted(groups.items(), key=lambda item: len(item[1])):
        main[majority[group]] = group
    right = {face for face, group in person.items() if main.get(truth[face]) == group}
    return groups, majority, main, right


def corrections(person, truth, rng):
    """One true word about every face that is not where it belongs, as somebody would say it."""
    groups, majority, main, right = judged(person, truth)
    words = []
    for face in sorted(set(person) - right):
        group, own = person[face], truth[face]
        home = main.get(own)
        others = [f for f in groups[group] if truth[f] == majority[group] and f in right]
        kinds = ["name"]
        if majority[group] != own and others:
            kinds += ["not", "different"]
        if home is not None and home != group:
            kinds += ["same"]
        kind = rng.choice(kinds)
        if kind == "name":
            words.append({"kind": "name", "face": face, "name": own})
        elif kind == "not":
            words.append({"kind": "not", "face": face, "name": majority[group]})
        elif kind == "different":
            words.append({"kind": "different", "face": face, "other": rng.choice(others)})
        else:
            at_home = [f for f in groups[home] if truth[f] == own and f in right]
            words.append({"kind": "same", "face": face, "other": rng.choice(at_home)})
    return words


def holds(word, person, name):
    face, other = word["face"], word.get("other")
    return {
        "name": lambda: name[face] == word["name"],
        "not": lambda: name[face] != word["name"],
        "same": lambda: person[face] == person[other],
        "different": lambda: person[face] != person[other],
    }[word["kind"]]()


def pieces(person, truth, rng):
    """Of every piece of two photos or more beside a person's largest the faces, and a word that joins one of them to that."""
    groups, majority, main, _ = judged(person, truth)
    found = []
    for group, faces in sorted(groups.items()):
        own, home = majority[group], main[majority[group]]
        faces = [face for face in faces if truth[face] == own]
        if group != home and len(faces) >= 2:
            other = rng.choice([face for face in groups[home] if truth[face] == own])
            found.append((faces, {"kind": "same", "face": rng.choice(faces), "other": other}))
    return found


def report_pieces(title, found, truth, before, after):
    joined = sum(all(after[face] == after[word["other"]] for face in faces) for faces, word in found)
    n_faces = sum(len(faces) for faces, _ in found)
    n_joined = sum(after[face] == after[word["other"]] for faces, word in found for face in faces)
    right = [len(judged(person, truth)[3]) for person in (before, after)]
    print(f"{title}: {joined} of {len(found)} pieces are whole with their person, {n_joined} of their {n_faces} faces; "
          f"right faces {right[0]} -> {right[1]} of {len(truth)}", flush=True)


def wrong_words(person, truth, n, rng):
    """Words that are not true, about faces that were right."""
    people = sorted(set(truth.values()))
    right = sorted(judged(person, truth)[3])
    words = []
    for face in rng.sample(right, n):
        kind = rng.choice(["name", "same"])
        stranger = rng.choice([f for f in right if truth[f] != truth[face]])
        if kind == "name":
            words.append({"kind": "name", "face": face, "name": rng.choice([p for p in people if p != truth[face]])})
        else:
            words.append({"kind": "same", "face": face, "other": stranger})
    return words


def report(title, words, wrong, truth, before, after, seconds):
    """Before and after are (person, name)."""
    spoken = {w[k] for w in words + wrong for k in ("face", "other") if w.get(k)}
    kept = Counter(w["kind"] for w in words if holds(w, *after))
    said = Counter(w["kind"] for w in words)
    right_before, right_after = judged(before[0], truth)[3], judged(after[0], truth)[3]
    others = set(truth) - spoken
    worse = {f for f in others if f in right_before and f not in right_after}
    better = {f for f in others if f not in right_before and f in right_after}
    had = {f for f in truth if before[1][f] == truth[f]}
    misled = {w[k] for w in wrong for k in ("face", "other") if w.get(k)}
    lost = {f for f in had - misled if after[1][f] != truth[f]}
    each = ", ".join(f"{kind} {kept[kind]} of {n}" for kind, n in sorted(said.items()))
    print(f"{title}: {sum(kept.values())} of {len(words)} words hold ({each}); of {len(others)} other faces "
          f"{len(worse)} worse, {len(better)} better; right names {len(had)} before, {len(lost)} of them lost; "
          f"right faces {len(right_before)} -> {len(right_after)} of {len(truth)}; {seconds:.0f} s", flush=True)
    for word in words:
        if not holds(word, *after):
            print(f"    not held: {word}, truth {truth[word['face']]}, called {after[1][word['face']]}")
    for face in sorted(worse | lost)[:20]:
        print(f"    worse: {face}: {before[1][face]} -> {after[1][face]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kith", default="target/release/kith")
    parser.add_argument("--every", type=int, default=1, help="take every so many-th person")
    parser.add_argument("--fitted", type=Path, help="keep the fitted library here, or take it from here")
    parser.add_argument("--sweeps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with open(options.folder / "faces.csv", newline="", encoding="utf-8") as rows:
        table = [(row["face"], row["truth"]) for row in csv.DictReader(rows)]
    x = np.load(options.folder / "embeddings.npy")
    people = sorted({truth for _, truth in table})
    kept = set(people[::options.every])
    rows = [row for row, (_, truth) in enumerate(table) if truth in kept]
    truth = {table[row][0]: table[row][1] for row in rows}
    with tempfile.TemporaryDirectory() as place:
        faces = Path(place) / "faces"
        faces.mkdir()
        np.save(faces / "embeddings.npy", x[rows])
        with open(faces / "faces.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["face"], *[[table[row][0]] for row in rows]])
        library = Library(options.kith, Path(place) / "lib.kith", options.sweeps)
        if options.fitted and options.fitted.exists():
            shutil.copy(options.fitted, library.path)
            seconds = 0
        else:
            library.run("add", faces)
            seconds = library.learn()
            if options.fitted:
                shutil.copy(library.path, options.fitted)
        person, _ = library.people()
        groups, majority, main_of, right = judged(person, truth)
        print(f"{options.folder.name}: {len(truth)} faces of {len(set(truth.values()))} people, {len(groups)} groups, "
              f"{len(right)} faces where they belong; {seconds:.0f} s", flush=True)
        found = pieces(person, truth, rng)
        joined = library.copy(Path(place) / "joined.kith")
        joined.say([word for _, word in found])
        report_pieces("one word for each piece, at once", found, truth, person, joined.people()[0])
        joined.learn()
        report_pieces("learnt", found, truth, person, joined.people()[0])
        names = []
        for who, group in sorted(main_of.items()):
            own = [f for f in groups[group] if truth[f] == who]
            if len(groups[group]) >= 5:
                names.append({"kind": "name", "face": rng.choice(own), "name": who})
        library.say(names)
        seconds = library.learn()
        named = library.people()
        report(f"{len(names)} people named", names, [], truth, (person, dict.fromkeys(truth)), named, seconds)
        words = corrections(named[0], truth, rng)
        corrected = library.copy(Path(place) / "true.kith")
        corrected.say(words)
        at_once = corrected.people()
        report("true words, at once", words, [], truth, named, at_once, 0)
        seconds = corrected.learn()
        report("true words, learnt", words, [], truth, named, corrected.people(), seconds)
        n_wrong = max(1, (len(words) + len(names)) // 20)
        wrong = wrong_words(named[0], truth, n_wrong, rng)
        misled = library.copy(Path(place) / "wrong.kith")
        misled.say(sorted(words + wrong, key=lambda _: rng.random()))
        seconds = misled.learn()
        report(f"and {n_wrong} wrong ones", words, wrong, truth, named, misled.people(), seconds)
        doubtful = [json.loads(line) for line in misled.run("log", "--doubtful", "--json").splitlines()]
        found = {(one["kind"], one["face"]) for one in doubtful}
        listed = sum((w["kind"], w["face"]) in found for w in wrong)
        print(f"    {listed} of {n_wrong} wrong words are among {len(found)} listed as doubtful")


if __name__ == "__main__":
    main()
