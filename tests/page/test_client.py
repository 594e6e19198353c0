"""A client that is generated from the API's description talks to it: the description is true, and enough."""

import importlib
import subprocess
import sys
import time

import pytest
from conftest import ROOT, Server


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """The generated package, and a client of a week of its own."""
    folder = tmp_path_factory.mktemp("client")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--overwrite", "--output-path", str(folder),
               "--path", str(ROOT / "crates/kith-server/openapi.json")]
    subprocess.run(command, check=True, capture_output=True)
    sys.path.insert(0, str(folder))
    made = importlib.import_module("kith_client")
    server = Server("demo", "--serve")
    yield made.AuthenticatedClient(base_url=server.base, token=server.token), made.Client(base_url=server.base)
    assert server.end() == 0
    sys.path.remove(str(folder))


def call(name):
    return importlib.import_module(f"kith_client.api.default.{name}").sync


def until(client, is_so):
    for _ in range(600):
        status = call("status")(client=client)
        if is_so(status):
            return status
        time.sleep(0.1)
    raise AssertionError(status)


def test_a_generated_client_looks_says_and_takes_back(client):
    client, stranger = client
    models = importlib.import_module("kith_client.models")
    status = until(client, lambda status: status.believes)
    people = call("people")(client=client, n=1000).people
    assert len(people) == status.n_people and sum(one.n_faces for one in people) == status.n_faces
    who = next(one for one in people if one.n_faces > 2)
    faces = call("faces_of_person")(who.person, client=client).faces
    assert {face.person for face in faces} == {who.person}

    act = models.NewAct(kind=models.NewActKind.NAME, person=who.person, name="Zephyrine")
    said = call("say")(client=client, body=act)
    assert isinstance(said, models.Acted), said
    assert call("person")(who.person, client=client).name == "Zephyrine"
    assert call("history")(client=client).acts[0].act == said.act
    assert call("undo")(client=client, body=models.Which(act=said.act)).undone == said.act
    assert not call("history")(client=client).acts[0].stands

    other = next(face.row for face in faces if face.row != who.picture)
    shown = call("choose_picture")(who.person, client=client, body=models.ChosenFace(face=other))
    assert isinstance(shown, models.Pictured) and shown.before == who.picture
    assert call("person")(who.person, client=client).picture == other
    for look in ("questions", "doubt", "photos"):
        assert not isinstance(call(look)(client=client), models.Error), look
    assert call("face")(faces[0].row, client=client).row == faces[0].row


def test_a_generated_client_reads_refusals(client):
    client, stranger = client
    models = importlib.import_module("kith_client.models")
    refused = call("status")(client=stranger)
    assert isinstance(refused, models.Error) and refused.error.code == "token", refused
    missing = call("person")(10**6, client=client)
    assert isinstance(missing, models.Error) and missing.error.code == "not_found", missing
    nothing = models.NewAct(kind=models.NewActKind.NAME, faces=[], name="Ann")
    assert call("say")(client=client, body=nothing).error.code == "malformed"
