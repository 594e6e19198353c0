"""The made-up week in a real Chromium: one server and one browser for all tests, a fresh page for each."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
KITH = Path(os.environ.get("KITH", ROOT / "target/release/kith"))
ARTEFACTS = Path(os.environ.get("KITH_PAGE_ARTEFACTS", ROOT / "target/page"))
WIDE, PHONE = {"width": 1360, "height": 900}, {"width": 390, "height": 844}


class Server:
    """A `kith serve` or `kith demo --serve`, and the address that it printed."""

    def __init__(self, *arguments):
        command = [str(KITH), *arguments, "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        assert "/enter/" in self.address, self.process.stderr.read()
        self.base, self.token = self.address.split("/enter/")

    def end(self):
        self.process.terminate()
        return self.process.wait(timeout=30)


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def demo():
    server = Server("demo", "--serve")
    yield server
    assert server.end() == 0, "Ctrl-C ends it well"


@pytest.fixture(scope="module")
def week(request):
    """A week of its own, for tests that say something."""
    server = Server("demo", "--serve")
    yield server
    assert server.end() == 0


@pytest.fixture(scope="module")
def own_week():
    """Another, for tests that settle, join and forget."""
    server = Server("demo", "--serve")
    yield server
    assert server.end() == 0


class Opened:
    """A page, with everything that went wrong on it."""

    def __init__(self, browser, server, viewport, scheme="light", scripts=True, motion="no-preference"):
        self.server = server
        self.context = browser.new_context(viewport=viewport, color_scheme=scheme, java_script_enabled=scripts,
                                           reduced_motion=motion)
        self.page = self.context.new_page()
        self.wrong = []
        self.page.on("console", lambda line: self.wrong.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self.check)
        self.page.goto(server.address)

    def check(self, request):
        if not request.url.startswith((self.server.base, "blob:", "data:")):
            self.wrong.append(f"a request to {request.url}")

    def go(self, path, wait):
        self.page.goto(self.server.base + path)
        self.page.wait_for_selector(wait, timeout=30000)
        return self.page

    def shot(self, name):
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_timeout(300)
        self.page.screenshot(path=str(ARTEFACTS / f"{name}.png"))


@pytest.fixture
def opened(browser, request):
    """Opens pages; at the end, nothing may have gone wrong on any of them."""
    pages = []

    def open_page(server, viewport=WIDE, **options):
        pages.append(Opened(browser, server, viewport, **options))
        return pages[-1]

    yield open_page
    for one in pages:
        one.context.close()
    assert [line for one in pages for line in one.wrong] == []


def api(page, path, body=None):
    """Asks the API as the page does."""
    script = """async ([path, body]) => {
        const options = body === null ? {} : {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)};
        return (await fetch('/api/v1/' + path, options)).json();
    }"""
    return page.evaluate(script, [path, body])


def until(page, path, is_so, seconds=60):
    """Waits until an answer of the API is as wanted."""
    for _ in range(10 * seconds):
        value = api(page, path)
        if is_so(value):
            return value
        page.wait_for_timeout(100)
    raise AssertionError(f"{path}: {value}")
