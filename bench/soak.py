#!/usr/bin/env python3
"""A day in the life of a door camera: frames, names, corrections, undo and forget, killed and started again at random.

    python3 bench/soak.py target/release/kith --minutes 60 --kills 1000

Everything that was acknowledged is remembered here and looked for in the end; latency (by the clock, and in processor time,
which other work on the machine moves less) and memory of the first and of the last frames are compared. Faces come and go, so
that the library stays at about `--faces`: what grows would be a leak.
"""

import argparse
import collections
import json
import os
import random
import signal
import statistics
import struct
import subprocess
import tempfile
import time

DIMENSION = 64


class Door:
    def __init__(self, kith, folder, seed, faces):
        self.kith, self.folder, self.faces = kith, folder, faces
        self.random = random.Random(seed)
        self.people = [[self.random.gauss(0, 1) for _ in range(DIMENSION)] for _ in range(30)]
        self.lib = os.path.join(folder, "lib")
        self.alive = {}  # faces that were acknowledged and not forgotten since: whose
        self.unsure = set()  # faces of which a kill left unknown whether they are there
        self.n_acts = 0
        self.lost = []
        self.number = 0
        self.latency = []  # (faces in the library, seconds)
        self.processor = []  # (faces in the library, seconds of processor time)
        self.memory = []  # (faces in the library, kilobytes)
        self.n_kills = self.n_frames = self.n_forgotten = 0
        self.killed = collections.Counter()
        self.longest = collections.defaultdict(lambda: 0.05)  # How long to wait at most before a verb is killed.
        self.watch = None

    def run(self, *arguments, text=None):
        command = [self.kith, *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=600)

    def start(self):
        self.watch = subprocess.Popen(
            [self.kith, "watch", self.lib, "--threads", "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def end(self):
        if self.watch:
            self.watch.stdin.close()
            self.watch.stdout.read()
            assert self.watch.wait() == 0, self.watch.returncode
            self.watch = None

    def kill(self):
        if self.watch:
            self.watch.send_signal(signal.SIGKILL)
            self.watch.wait()
            self.watch = None
            self.n_kills += 1
            self.killed["watch"] += 1

    def used(self):
        """Processor time of the watching process so far (clock_getcpuclockid of its id)."""
        return time.clock_gettime((~self.watch.pid << 3) | 2)

    def say(self, line, kills):
        """An answer, or none when the process was killed instead."""
        if not self.watch:
            self.start()
        self.watch.stdin.write(json.dumps(line) + "\n")
        self.watch.stdin.flush()
        if kills:
            time.sleep(self.random.random() * 0.03)
            self.kill()
            return None
        answer = self.watch.stdout.readline()
        assert answer, "watch ended by itself"
        return json.loads(answer)

    def frame(self, kills):
        self.number += 1
        whose = self.random.sample(range(len(self.people)), self.random.choice([1, 1, 1, 2, 3]))
        faces = []
        for k, person in enumerate(whose):
            look = [x + self.random.gauss(0, 0.35) for x in self.people[person]]
            faces.append({"face": f"{self.number}-{k}", "embedding": look})
        is_warm = self.watch is not None
        used = self.used() if is_warm else 0.0
        before = time.perf_counter()
        answer = self.say({"frame": str(self.number), "context": "door", "faces": faces}, kills)
        seconds = time.perf_counter() - before
        keys = [face["face"] for face in faces]
        if answer is None:
            self.unsure.update(keys)
            return
        assert [face["face"] for face in answer["faces"]] == keys, answer
        self.alive.update(zip(keys, whose))
        self.n_frames += 1
        if is_warm:  # Otherwise it is the time to open the library.
            self.latency.append((len(self.alive), seconds))
            self.processor.append((len(self.alive), self.used() - used))
        if self.n_frames % 50 == 0:
            with open(f"/proc/{self.watch.pid}/status") as status:
                line = next(line for line in status if line.startswith("VmRSS"))
            self.memory.append((len(self.alive), int(line.split()[1])))

    def speak(self, kills):
        if not self.alive:
            return
        face = self.random.choice(list(self.alive))
        right = f"Person {self.alive[face]}"
        wrong = f"Person {self.random.randrange(30)}"
        other = self.random.choice(list(self.alive))
        line = self.random.choice(
            [{"name": right, "face": face}] * 4
            + [{"name": wrong, "face": face}, {"not": "Person 99", "face": face}, {"undo": 1}, {"redo": True}]
            + ([{"same": [face, other]}] if self.alive[face] == self.alive[other] and face != other else [])
        )
        answer = self.say(line, kills)
        if answer is not None:
            assert "error" not in answer, (line, answer)
            self.n_acts += "act" in answer or bool(answer.get("undone"))

    def forget(self):
        """Somebody asks to be forgotten; and the oldest faces go."""
        self.end()
        face = self.random.choice(list(self.alive))
        self.check_exit(self.run("forget", self.lib, "--face", face), face)
        while len(self.alive) > self.faces:
            self.check_exit(self.run("forget", self.lib, "--face", next(iter(self.alive))), next(iter(self.alive)))

    def check_exit(self, ran, face):
        assert ran.returncode == 0, ran.stderr
        del self.alive[face]
        self.n_forgotten += 1

    def dataset(self):
        """A photo of two people as `add` takes it; its faces may be there from now on."""
        self.number += 1
        folder = os.path.join(self.folder, f"data-{self.number}")
        os.mkdir(folder)
        keys = [f"{self.number}-{k}" for k in range(2)]
        looks = [[x + self.random.gauss(0, 0.35) for x in person] for person in self.random.sample(self.people, 2)]
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

    def verbs(self, face):
        name, out = f"Person {self.alive[face]}", os.path.join(self.folder, f"draws-{self.n_kills}")
        return {
            "add": lambda: ["add", self.lib, self.dataset()],
            "create": lambda: ["add", self.lib + f"-new-{self.n_kills}", self.dataset()],
            "learn": lambda: ["learn", self.lib, "--sweeps", "3"],
            "people": lambda: ["people", self.lib],
            "who": lambda: ["who", self.lib, "--face", face],
            "ask": lambda: ["ask", self.lib, "--n", "3"],
            "name": lambda: ["name", self.lib, face, name],
            "not": lambda: ["not", self.lib, face, "Person 99"],
            "undo": lambda: ["undo", self.lib],
            "redo": lambda: ["redo", self.lib],
            "log": lambda: ["log", self.lib],
            "import": lambda: ["import", self.lib, self.statement(face)],
            "export": lambda: ["export", self.lib, "draws", "--out", out],
            "check": lambda: ["check", self.lib],
            "forget": lambda: ["forget", self.lib, "--face", face],
        }

    def kill_verb(self):
        """Some other verb, killed somewhere in it."""
        self.end()
        face = self.random.choice(list(self.alive))
        verbs = self.verbs(face)
        verb = self.random.choice(sorted(verbs))
        arguments = verbs[verb]()
        process = subprocess.Popen([self.kith, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.random.random() * self.longest[verb])
        process.kill()
        was_killed = process.wait() == -9
        # Over all of its work, and seldom too late.
        self.longest[verb] *= 1.1 if was_killed else 0.8
        self.n_kills += was_killed
        self.killed[verb] += was_killed
        if verb == "forget":
            # Gone or there, and whole either way.
            del self.alive[face]
            self.unsure.add(face)
        if verb == "export" and os.path.exists(arguments[-1]):
            with open(arguments[-1]) as file:
                for line in file:
                    json.loads(line)
            os.remove(arguments[-1])
        if verb == "create" and os.path.exists(arguments[1]):
            assert self.run("check", arguments[1]).returncode == 0, arguments

    def look(self):
        """Is everything there that was acknowledged?"""
        self.end()
        checked = self.run("check", self.lib, "--json")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        ran = self.run("export", self.lib, "people")
        assert ran.returncode == 0, ran.stderr
        there = {face["face"] for line in ran.stdout.splitlines() for face in json.loads(line)["faces"]}
        self.lost += [face for face in self.alive if face not in there]
        extra = there - set(self.alive) - self.unsure
        assert not extra, f"forgotten, and there: {sorted(extra)[:5]}"


def fifths(values):
    """The medians of the first, second, ... fifth."""
    n = len(values) // 5
    return [statistics.median(v for _, v in values[k * n : (k + 1) * n]) for k in range(5)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kith")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--faces", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        door = Door(os.path.abspath(options.kith), folder, options.seed, options.faces)
        begun = time.monotonic()
        settled = None
        while time.monotonic() - begun < 60 * options.minutes:
            share = (time.monotonic() - begun) / (60 * options.minutes)
            kills = door.n_kills < share * options.kills and door.random.random() < 0.5
            dice = door.random.random()
            if kills and dice < 0.4 and door.alive:
                door.kill_verb()
            elif dice < 0.86:
                door.frame(kills and dice < 0.6)
            elif dice < 0.97:
                door.speak(kills)
            elif len(door.alive) > door.faces:
                door.forget()
            if settled is None and len(door.alive) >= door.faces and share > 0.1:
                settled = (len(door.latency), len(door.memory))
            if door.number % 500 == 0:
                door.look()
        door.look()
        print(
            f"{door.n_frames} frames, {door.n_acts} acts, {door.n_forgotten} faces forgotten, {door.n_kills} kills in "
            f"{(time.monotonic() - begun) / 60:.0f} minutes; lost: {len(door.lost)}"
        )
        print("killed in: " + ", ".join(f"{verb} {n}" for verb, n in sorted(door.killed.items())))
        if settled:
            rows = [("latency, s", door.latency[settled[0]:]), ("processor time, s", door.processor[settled[0]:])]
            for what, values in [*rows, ("memory, kB", door.memory[settled[1]:])]:
                if len(values) >= 10:
                    medians = fifths(values)
                    change = 100 * (medians[-1] / medians[0] - 1)
                    print(f"{what}: {' '.join(f'{median:.4g}' for median in medians)} (last over first {change:+.1f} %)")
        assert not door.lost, door.lost[:5]


if __name__ == "__main__":
    main()
