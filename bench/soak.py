#!/usr/bin/env python3
"""A day in the life of a door camera: frames, names, corrections, undo and forget, every verb killed at random.

    python3 bench/soak.py target/release/kith --minutes 60 --kills 1000

Everything that was acknowledged (faces, and what was said) is remembered here and looked for in the library. Faces come and go,
so that there are always about `--faces`.

Whether memory and time of a frame grow is measured so that other work on the machine does not matter: the same frames are given
in turn to two processes, at several moments of the hour, and their ratio is told:

- `the library, now / at first`: fresh processes over a copy of the library as it is and over the copy of the first moment;
- `the process, old / fresh`: one that was never killed since the first moment, over a library of its own that it was fed with,
  and a fresh one over a copy of that library. The fresh one has heard a word and its undo before: an undo reads the library
  anew beside what the allocator still holds of the former reading, which takes memory once and is no growth.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import tempfile
import time

DIMENSION = 64
N_PEOPLE = 30
# Verbs that only say something to a terminal and touch no file.
SAYS_ONLY = {"help"}


class Watch:
    """A watching process, what a frame costs it, and what it holds."""

    def __init__(self, kith, lib):
        self.lib = lib
        command = [kith, "watch", lib, "--threads", "1"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()

    def answer(self):
        answer = self.process.stdout.readline()
        assert answer, "watch ended by itself"
        return json.loads(answer)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        assert self.process.wait() == 0, self.process.returncode

    def processor(self):
        """Processor time so far (clock_getcpuclockid of its id)."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(next(line for line in status if line.startswith("VmRSS")).split()[1])

    def cost(self, line):
        """Seconds of the clock and of the processor for one answer."""
        used, before = self.processor(), time.perf_counter()
        self.tell(line)
        assert "faces" in self.answer()
        return time.perf_counter() - before, self.processor() - used


def copied(lib, to):
    """A copy of a library that nobody is writing to just now."""
    for end in ["", "-wal", "-shm", "-lock"]:
        if os.path.exists(to + end):
            os.remove(to + end)
        if end in ["", "-wal"] and os.path.exists(lib + end):
            shutil.copyfile(lib + end, to + end)
    return to


def compared(one, other, frames):
    """Ratios of two processes over the same frames: the clock, the processor, memory."""
    costs = [(one.cost(frame), other.cost(frame)) for frame in frames]
    costs = costs[len(costs) // 4 :]  # The first frames open the library.
    clock, processor = ([(a[k], b[k]) for a, b in costs] for k in range(2))
    # By the clock most frames of a busy machine wait for others' work: the quickest tenth did not.
    quick = lambda values: statistics.quantiles(values, n=10)[0]
    ratio = lambda of, pairs: of([a for a, _ in pairs]) / of([b for _, b in pairs])
    return ratio(quick, clock), ratio(statistics.median, processor), one.memory() / other.memory()


class Door:
    def __init__(self, kith, folder, seed, faces):
        self.kith, self.folder, self.faces = kith, folder, faces
        self.random = random.Random(seed)
        self.people = [[self.random.gauss(0, 1) for _ in range(DIMENSION)] for _ in range(N_PEOPLE)]
        self.lib = os.path.join(folder, "lib")
        self.alive = {}  # faces that were acknowledged and not forgotten since: whose
        self.unsure = set()  # faces of which a kill left unknown whether they are there
        self.ignored = set()  # faces of which it was said, or nearly
        self.acts = {}  # acts that were acknowledged: the faces that they are about
        self.n_acts = 0
        self.lost = []
        self.number = 0
        self.n_kills = self.n_frames = self.n_forgotten = self.n_looks = self.n_tried = 0
        self.killed = collections.Counter()
        self.longest = collections.defaultdict(lambda: 0.02)  # How long to wait at most before a verb is killed.
        self.watch = None
        self.data = os.path.join(folder, "usual")
        self.draws = os.path.join(folder, "usual.ndjson")
        simulated = ["--people", "8", "--frames", "60", "--dimension", "8"]
        self.check_exit(self.run("simulate", "--out", self.data, *simulated))
        self.check_exit(self.run("fit", self.data, "--draws", self.draws, "--chains", "2", "--sweeps", "10"))

    def run(self, *arguments):
        return subprocess.run([self.kith, *arguments], capture_output=True, text=True, timeout=600)

    def check_exit(self, ran):
        assert ran.returncode == 0, ran.stderr

    def end(self):
        if self.watch:
            self.watch.end()
            self.watch = None

    def say(self, line, kills):
        """An answer, or none when the process was killed instead."""
        self.watch = self.watch or Watch(self.kith, self.lib)
        self.watch.tell(line)
        if not kills:
            return self.watch.answer()
        time.sleep(self.random.random() * 0.03)
        self.watch.process.send_signal(signal.SIGKILL)
        self.watch.process.wait()
        self.watch = None
        self.n_kills += 1
        self.killed["watch"] += 1
        return None

    def made_frame(self):
        """A frame with some of the people, and whose faces they are."""
        self.number += 1
        whose = self.random.sample(range(N_PEOPLE), self.random.choice([1, 1, 1, 2, 3]))
        faces = [{"face": f"{self.number}-{k}", "embedding": self.look_of(who)} for k, who in enumerate(whose)]
        return {"frame": str(self.number), "context": "door", "faces": faces}, whose

    def look_of(self, person):
        return [x + self.random.gauss(0, 0.35) for x in self.people[person]]

    def frame(self, kills):
        frame, whose = self.made_frame()
        answer = self.say(frame, kills)
        keys = [face["face"] for face in frame["faces"]]
        if answer is None:
            self.unsure.update(keys)
            return
        assert [face["face"] for face in answer["faces"]] == keys, answer
        self.alive.update(zip(keys, whose))
        self.n_frames += 1

    def acknowledged(self, answer, faces):
        """Remembers an act, or what was taken back."""
        if "act" in answer:
            self.acts[answer["act"]] = faces
            self.n_acts += 1
        self.n_acts += bool(answer.get("undone")) + bool(answer.get("redone"))

    def speak(self, kills):
        if not self.alive:
            return
        face, other = (self.random.choice(list(self.alive)) for _ in range(2))
        right = f"Person {self.alive[face]}"
        wrong = f"Person {self.random.randrange(N_PEOPLE)}"
        is_same = "same" if self.alive[face] == self.alive[other] else "different"
        line = self.random.choice(
            [{"name": right, "face": face}] * 4
            + [{"name": wrong, "face": face}, {"not": "Person 99", "face": face}, {"undo": 1}, {"redo": True}]
            + ([{is_same: [face, other]}] if face != other else [])
        )
        answer = self.say(line, kills)
        if answer is not None:
            assert "error" not in answer, (line, answer)
            self.acknowledged(answer, line.get("same") or line.get("different") or [face])

    def forget(self):
        """Somebody asks to be forgotten; and the oldest faces go."""
        self.end()
        self.forget_face(self.random.choice(list(self.alive)))
        while len(self.alive) > self.faces:
            self.forget_face(next(iter(self.alive)))

    def forget_face(self, face):
        self.check_exit(self.run("forget", self.lib, "--face", face))
        self.is_gone(face)
        self.n_forgotten += 1

    def is_gone(self, face):
        del self.alive[face]
        self.acts = {act: faces for act, faces in self.acts.items() if face not in faces}

    def dataset(self):
        """A photo of two people as `add` takes it; its faces may be there from now on."""
        self.number += 1
        folder = os.path.join(self.folder, f"data-{self.number}")
        os.mkdir(folder)
        keys = [f"{self.number}-{k}" for k in range(2)]
        looks = [self.look_of(person) for person in self.random.sample(range(N_PEOPLE), 2)]
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (2, {DIMENSION}), }}".ljust(117) + "\n"
        with open(os.path.join(folder, "embeddings.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            file.write(struct.pack(f"<{2 * DIMENSION}f", *looks[0], *looks[1]))
        with open(os.path.join(folder, "faces.csv"), "w") as file:
            file.write("face,frame\n" + "".join(f"{key},{self.number}\n" for key in keys))
        self.unsure.update(keys)
        return folder

    def statement(self, face):
        path = os.path.join(self.folder, "said.ndjson")
        with open(path, "w") as file:
            line = {"kind": "name", "face": face, "name": f"Person {self.alive[face]}", "by": "soak"}
            file.write(json.dumps(line) + "\n")
        return path

    def verbs(self, face, other):
        """How each verb is called; `{out}` is a path that is not there, and is whole afterwards or not there."""
        lib, name, data, draws = self.lib, f"Person {self.alive[face]}", self.data, self.draws
        few = ["--chains", "2", "--sweeps", "10"]
        return {
            "add": lambda: ["add", lib, self.dataset()],
            "add (create)": lambda: ["add", "{out}", self.dataset()],
            "learn": lambda: ["learn", lib, "--sweeps", "3"],
            "people": lambda: ["people", lib],
            "who": lambda: ["who", lib, "--face", face],
            "ask": lambda: ["ask", lib, "--n", "3"],
            "name": lambda: ["name", lib, face, name, "--json"],
            "not": lambda: ["not", lib, face, "Person 99", "--json"],
            "same": lambda: ["same", lib, face, other, "--json"],
            "different": lambda: ["different", lib, face, other, "--json"],
            "ignore": lambda: ["ignore", lib, face, "--json"],
            "undo": lambda: ["undo", lib, "--json"],
            "redo": lambda: ["redo", lib, "--json"],
            "log": lambda: ["log", lib],
            "import": lambda: ["import", lib, self.statement(face)],
            "export": lambda: ["export", lib, "draws", "--out", "{out}"],
            "check": lambda: ["check", lib],
            "forget": lambda: ["forget", lib, "--face", face],
            "serve": lambda: ["serve", lib, "--port", "0"],
            "fit": lambda: ["fit", data, "--draws", "{out}", *few],
            "predict": lambda: ["predict", data, "--draws", draws, "--new", data, "--json"],
            "evaluate": lambda: ["evaluate", "--data", data, "--draws", draws, "--new", data],
            "simulate": lambda: ["simulate", "--out", "{out}", "--frames", "60", "--dimension", "8"],
            "experiment": lambda: ["experiment", "unknown", "--data", data, "--out", self.data + "-out"],
            "demo": lambda: ["demo", "--days", "1"],
            "bench": lambda: ["bench", "predict"],
            "models": lambda: ["models", "list"],
            "completions": lambda: ["completions", "bash"],
            "man": lambda: ["man", self.data + "-man"],
        }

    def kill_verb(self):
        """Some other verb, killed somewhere in it."""
        self.end()
        face, other = self.random.sample(sorted(self.alive), 2)
        verbs = self.verbs(face, other)
        # Those that were killed least are likelier.
        verb = min(self.random.sample(sorted(verbs), 3), key=lambda verb: self.killed[verb])
        self.n_tried += 1
        out = os.path.join(self.folder, f"out-{self.n_tried}")
        arguments = [argument.replace("{out}", out) for argument in verbs[verb]()]
        process = subprocess.Popen([self.kith, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            said, _ = process.communicate(timeout=self.random.random() * self.longest[verb])
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
        was_killed = process.returncode == -9
        # Over all of its work, and seldom too late.
        self.longest[verb] *= 1.1 if was_killed else 0.8
        self.n_kills += was_killed
        self.killed[verb] += was_killed
        self.hear(verb, (said or "").split("\n"), face, other)
        self.look_at(verb, out)

    def hear(self, verb, said, face, other):
        """What a killed verb had acknowledged counts."""
        if verb in ["name", "not", "same", "different", "ignore", "undo", "redo"]:
            for line in said[:-1]:
                self.acknowledged(json.loads(line), [face, other] if verb in ["same", "different"] else [face])
        if verb == "ignore":
            self.ignored.add(face)
        if verb == "forget":
            # Gone or there, and whole either way.
            self.is_gone(face)
            self.unsure.add(face)

    def look_at(self, verb, out):
        """What a killed verb wrote is whole, or not there."""
        if not os.path.exists(out):
            return
        if verb == "add (create)":
            self.check_exit(self.run("check", out))
        elif verb == "simulate":
            self.check_exit(self.run("fit", out, "--draws", out + ".draws", "--chains", "1", "--sweeps", "1"))
        else:
            with open(out) as file:
                assert [json.loads(line) for line in file], out

    def look(self):
        """Is everything there that was acknowledged?"""
        self.end()
        self.n_looks += 1
        self.check_exit(self.run("check", self.lib, "--json"))
        # Of a copy: closing the library's file here would drop the locks that this process has on it.
        with contextlib.closing(sqlite3.connect(copied(self.lib, self.lib + "-look"))) as library:
            there = {key for key, in library.execute("SELECT key FROM faces")}
        self.lost += [face for face in self.alive if face not in there]
        extra = there - set(self.alive) - self.unsure
        assert not extra, f"forgotten, and there: {sorted(extra)[:5]}"
        ran = self.run("export", self.lib, "people")
        self.check_exit(ran)
        shown = {face["face"] for line in ran.stdout.splitlines() for face in json.loads(line)["faces"]}
        self.lost += [face for face in self.alive if face not in shown | self.ignored]
        ran = self.run("log", self.lib, "--json")
        self.check_exit(ran)
        acts = {json.loads(line)["act"] for line in ran.stdout.splitlines()}
        self.lost += [f"act {act} about {faces}" for act, faces in self.acts.items() if act not in acts]


class Moments:
    """What a frame costs at several moments, by ratios of processes that are given the same."""

    def __init__(self, door):
        self.door = door
        self.first = copied(door.lib, door.lib + "-first")
        self.old = Watch(door.kith, copied(door.lib, door.lib + "-old"))
        self.n_fed = 0
        self.rows = collections.defaultdict(list)

    def feed(self):
        """The old process has a day too."""
        face = self.saw(self.old)
        self.n_fed += 1
        if self.n_fed % 10 == 0:
            self.old.tell({"not": "Person 99", "face": face} if self.n_fed % 20 else {"undo": 1})
            self.old.answer()

    def saw(self, process):
        """A frame for a process; a face of it."""
        process.tell(self.door.made_frame()[0])
        return process.answer()["faces"][0]["face"]

    def measure(self):
        door = self.door
        door.end()
        new = lambda lib, to: Watch(door.kith, copied(lib, door.lib + to))
        frames = [door.made_frame()[0] for _ in range(60)]
        then, now = new(self.first, "-probe-then"), new(door.lib, "-probe-now")
        self.rows["the library, now / at first"].append(compared(now, then, frames))
        fresh = new(self.old.lib, "-probe-fresh")
        for line in [{"not": "Person 99", "face": self.saw(fresh)}, {"undo": 1}]:
            fresh.tell(line)
            fresh.answer()
        self.rows["the process, old / fresh"].append(compared(self.old, fresh, frames))
        for process in [then, now, fresh]:
            process.end()

    def tell(self):
        print(f"the old process was fed {self.n_fed} frames besides")
        for what, moments in self.rows.items():
            for k, kind in enumerate(["clock", "processor", "memory"]):
                ratios = [moment[k] for moment in moments]
                last = statistics.median(ratios[-5:])
                print(f"{what}, {kind}: {' '.join(f'{ratio:.2f}' for ratio in ratios)} (last five: {100 * (last - 1):+.1f} %)")


def verbs_of(kith):
    told = subprocess.run([kith, "--help"], capture_output=True, text=True).stdout
    return set(re.findall(r"^  ([a-z]+)  ", told.split("Commands:")[1].split("Options:")[0], re.M)) - SAYS_ONLY


def live(door, options):
    """The day; and what was measured in it."""
    begun, moments, n_moments = time.monotonic(), None, 0
    while (minutes := (time.monotonic() - begun) / 60) < options.minutes:
        share = minutes / options.minutes
        kills = door.n_kills < share * options.kills and door.random.random() < 0.5
        dice = door.random.random()
        if kills and dice < 0.6 and len(door.alive) > 1:
            door.kill_verb()
        elif dice < 0.86:
            door.frame(kills)
        elif dice < 0.97:
            door.speak(kills)
        elif len(door.alive) > door.faces:
            door.forget()
        if door.number // 500 > door.n_looks:
            door.look()
        if moments is None and len(door.alive) >= door.faces:
            # Before there are so many, how faces are compared and how many are swept changes with their number.
            door.end()
            door.check_exit(door.run("learn", door.lib))
            moments = Moments(door)
        if moments and door.random.random() < 0.2:
            moments.feed()
        if moments and share * options.moments > n_moments:
            moments.measure()
            n_moments += 1
    return moments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kith")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--faces", type=int, default=400)
    parser.add_argument("--moments", type=int, default=20, help="how often costs are measured")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        door = Door(os.path.abspath(options.kith), folder, options.seed, options.faces)
        moments = live(door, options)
        door.look()
        print(
            f"{door.n_frames} frames, {door.n_acts} acts, {door.n_forgotten} faces forgotten, {door.n_kills} kills in "
            f"{(time.monotonic() - begun) / 60:.0f} minutes; lost: {len(door.lost)}"
        )
        print("killed in: " + ", ".join(f"{verb} {n}" for verb, n in sorted(door.killed.items())))
        if moments:
            moments.measure()
            moments.old.end()
            moments.tell()
        never = verbs_of(door.kith) - {verb.split()[0] for verb, n in door.killed.items() if n}
        print(f"verbs that were never killed: {', '.join(sorted(never)) or 'none'}")
        assert not door.lost, door.lost[:5]


if __name__ == "__main__":
    main()
