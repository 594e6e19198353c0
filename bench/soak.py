#!/usr/bin/env python3
"""A day in the life of a door camera: frames, names, corrections, undo and forget, killed and started again at random.

    python3 bench/soak.py target/release/kith --minutes 60 --kills 1000

Everything that was acknowledged is remembered here and looked for in the end; latency and memory of the first and of the last
frames are compared. Faces come and go, so that the library stays at about `--faces`: what grows would be a leak.
"""

import argparse
import json
import os
import random
import signal
import statistics
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
        self.memory = []  # (faces in the library, kilobytes)
        self.n_kills = self.n_frames = self.n_forgotten = 0
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
        self.latency.append((len(self.alive), seconds))
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

    def kill_verb(self):
        """Some other verb, killed somewhere in it."""
        self.end()
        face = self.random.choice(list(self.alive))
        verb = self.random.choice(
            [["learn", self.lib, "--sweeps", "3"], ["people", self.lib], ["name", self.lib, face, f"Person {self.alive[face]}"],
             ["undo", self.lib], ["ask", self.lib], ["export", self.lib, "people"], ["check", self.lib], ["forget", self.lib, "--face", face]]
        )
        process = subprocess.Popen([self.kith, *verb], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.random.random() * 0.15)
        process.kill()
        self.n_kills += process.wait() == -9
        if verb[0] == "forget":
            # Gone or there, and whole either way.
            del self.alive[face]
            self.unsure.add(face)

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


def within(values, share):
    """The median of the first and of the last tenth, at the size that the library stays at."""
    tenth = max(len(values) // share, 1)
    return statistics.median(v for _, v in values[:tenth]), statistics.median(v for _, v in values[-tenth:])


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
            if dice < 0.86:
                door.frame(kills and dice < 0.5)
            elif dice < 0.95:
                door.speak(kills)
            elif dice < 0.98 and kills and door.alive:
                door.kill_verb()
            elif len(door.alive) > door.faces:
                door.forget()
            if settled is None and len(door.alive) >= door.faces:
                settled = (len(door.latency), len(door.memory))
            if door.number % 500 == 0:
                door.look()
        door.look()
        print(
            f"{door.n_frames} frames, {door.n_acts} acts, {door.n_forgotten} faces forgotten, {door.n_kills} kills in "
            f"{(time.monotonic() - begun) / 60:.0f} minutes; lost: {len(door.lost)}"
        )
        if settled:
            for what, values in [("latency, s", door.latency[settled[0]:]), ("memory, kB", door.memory[settled[1]:])]:
                if len(values) >= 10:
                    first, last = within(values, 5)
                    print(f"{what}: {first:.4g} at first, {last:.4g} at last ({100 * (last / first - 1):+.1f} %)")
        assert not door.lost, door.lost[:5]


if __name__ == "__main__":
    main()
