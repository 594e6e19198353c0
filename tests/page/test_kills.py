"""Killed at any moment while answers come in: nothing that was acknowledged is lost. KITH_KILLS says how often."""

import http.client
import json
import os
import random
import subprocess
import threading
import time

from conftest import KITH, Server

KILLS = int(os.environ.get("KITH_KILLS", "8"))


def run(*arguments):
    return subprocess.run([str(KITH), *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def speak(server, rows, acknowledged, seed):
    """Says one thing after another until the server is gone."""
    choose = random.Random(seed)
    port = int(server.base.rsplit(":", 1)[1])
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        while True:
            body = {"kind": "name", "faces": [choose.choice(rows)], "name": f"Person {choose.randrange(20)}"}
            connection.request("POST", "/api/v1/acts", json.dumps(body), headers)
            reply = connection.getresponse()
            answer = json.loads(reply.read())
            if reply.status == 200:
                acknowledged.append(answer["act"])
    except (OSError, http.client.HTTPException, ValueError):
        return


def test_killed_while_answers_come_in_none_is_lost(tmp_path):
    library = tmp_path / "killed.kith"
    run("simulate", "--out", tmp_path / "faces", "--kind", "gallery", "--people", 8, "--photos", 8, "--dimension", 16)
    run("add", library, tmp_path / "faces")
    run("people", library)
    choose = random.Random(1)
    acknowledged = []
    for kill in range(KILLS):
        server = Server("serve", str(library))
        speakers = [threading.Thread(target=speak, args=(server, range(1, 65), acknowledged, 10 * kill + k)) for k in range(3)]
        for speaker in speakers:
            speaker.start()
        time.sleep(choose.uniform(0.05, 0.6))
        server.process.kill()
        server.process.wait()
        for speaker in speakers:
            speaker.join()
    kept = {json.loads(line)["act"] for line in run("log", library, "--json").splitlines()}
    lost = set(acknowledged) - kept
    print(f"{KILLS} kills, {len(acknowledged)} answers acknowledged, {len(lost)} lost")
    assert acknowledged and not lost
    assert json.loads(run("check", library, "--json"))["ok"]
