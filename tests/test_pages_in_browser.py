"""The pages in a real Chromium: what a reader clicks, reads and hears, and what the pages never do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import chromium
from exhaustive import few
from playwright.sync_api import Browser, Page, sync_playwright
from samples.nightly import nightly_project
from serving import client, server
from test_explain import last_run, with_metrics

from warehouse.surfaces.all_views import VIEWS

MOST_BYTES = 150_000  # of a page with all that it loads, as transferred


def addresses() -> dict[str, str]:
    """A page of every view, with things that the warehouse has."""
    asking = client(nightly_project())

    def first(path: str, table: str) -> dict[str, Any]:
        parts = asking.get(f"/api{path}").json()["parts"]
        return dict(next(part for part in parts if part["name"] == table)["rows"][0])

    run, number = first("/runs", "runs")["run_id"], first("/numbers", "numbers")
    bundle = first("/evidence", "bundles")["bundle"]
    file = first(f"/evidence/{bundle}", "files")["raw_path"]
    keys = {
        "run_id": run, "number_id": number["number"], "publication": number["publication"], "bundle": bundle, "raw_path": file,
        "table": "main.benchmark_run_fact",
    }
    found = {}
    for view in VIEWS:
        if view.is_act:
            continue
        path = view.path
        for name in view.in_path:
            if name not in keys:  # of a dimension: the first in its list
                path = _door(asking.get(path.partition("/{")[0]).text, path.partition("{")[0])
            else:
                path = path.replace(f"{{{name}:path}}", f"{{{name}}}").replace(f"{{{name}}}", quote(str(keys[name]), safe="/"))
        found[view.name] = path
    return found | {
        "one series": "/explore?metric=ttft_p99_ms", "a query": "/sql?query=select+run_id,+started_at+from+benchmark_run_fact",
        "two sessions": "/compare?" + urlsplit(_door(asking.get("/compare").text, "/compare?")).query, "no such page": "/nothing",
    }


def _door(page: str, begins: str) -> str:
    from html import unescape

    return unescape(page.partition(f'href="{begins}')[2].partition('"')[0].join((begins, "")))


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    with server(nightly_project()) as place:
        yield place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = chromium()
    with sync_playwright() as playwright:
        # Every name but this machine's resolves to nothing: a page that asks elsewhere is found.
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"])
        yield found
        found.close()


class Watched:
    """A page whose requests, console and faults are watched."""

    def __init__(self, browser: Browser, place: str, **settings: Any) -> None:
        self.context = browser.new_context(**settings)
        self.page: Page = self.context.new_page()
        self.place = place
        self.requests: list[str] = []
        self.faults: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.faults.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))

    def open(self, path: str) -> Page:
        self.page.goto(self.place + path)
        return self.page

    def close(self) -> None:
        foreign = [each for each in self.requests if not each.startswith((self.place, "data:"))]
        self.context.close()
        assert foreign == []


@pytest.fixture
def watched(browser: Browser, place: str) -> Iterator[Watched]:
    found = Watched(browser, place, viewport={"width": 1280, "height": 900})
    yield found
    found.close()


@pytest.mark.parametrize(("width", "scheme"), few([(390, "light"), (1280, "light"), (1280, "dark"), (390, "dark")], 0))
def test_every_page_is_readable_quiet_and_small(browser: Browser, place: str, width: int, scheme: Any) -> None:
    """No fault in the console, nothing asked of another host, nothing beyond the edge, no serious violation that axe-core finds, few bytes."""
    wrong = [fault for name, path in addresses().items() for fault in faults(browser, place, name, path, width, scheme)]
    assert not wrong, "\n".join(map(str, wrong))


def faults(browser: Browser, place: str, name: str, path: str, width: int, scheme: Any) -> list[tuple[str, str]]:
    """What is wrong with one page."""
    watched = Watched(browser, place, viewport={"width": width, "height": 900}, color_scheme=scheme)
    sizes: list[int] = []
    watched.page.on("requestfinished", lambda request: sizes.append(sum(request.sizes()[key] for key in ("responseBodySize", "responseHeadersSize"))))
    page = watched.open(path)
    if name == "no such page":
        watched.faults = [each for each in watched.faults if "404" not in each]
    wrong = [(name, fault) for fault in watched.faults]
    if page.evaluate("document.documentElement.scrollWidth") > width:
        wrong.append((name, f"it is {page.evaluate('document.documentElement.scrollWidth')} px wide"))
    if sum(sizes) > MOST_BYTES:
        wrong.append((name, f"{sum(sizes)} bytes"))
    found = Axe().run(page).response["violations"]
    wrong += [(name, f"{each['id']}: {each['nodes'][0]['html'][:150]}") for each in found if each["impact"] in ("serious", "critical")]
    watched.close()
    return wrong


@pytest.fixture(scope="module")
def slow_place() -> Iterator[str]:
    """Where a run with telemetry is served whose slowness has a cause that checks find."""
    with server(with_metrics()) as place:
        yield place


@pytest.mark.parametrize(("width", "scheme"), few([(390, "light"), (1280, "light"), (1280, "dark"), (390, "dark")], 1))
def test_a_run_that_is_explained_is_readable_quiet_and_small(browser: Browser, slow_place: str, width: int, scheme: Any) -> None:
    run = quote(last_run(with_metrics()), safe="")
    wrong = [
        fault for name, path in (("explain", f"/explain?run={run}"), ("telemetry of a run", f"/runs/{run}"))
        for fault in faults(browser, slow_place, name, path, width, scheme)
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_from_a_slow_run_to_the_bytes_of_its_cause(browser: Browser, slow_place: str) -> None:
    watched = Watched(browser, slow_place, viewport={"width": 390, "height": 900})
    page = watched.open(f"/runs/{quote(last_run(with_metrics()), safe='')}")
    page.click("text=Explain it")
    assert "Requests wait longer" in page.inner_text("#causes") and "40 requests waited" in page.inner_text("#causes")
    page.click("#causes a[href^='/evidence/']")
    assert "num_requests_waiting" in page.inner_text("pre")
    assert watched.faults == []
    watched.close()


def test_from_what_changed_to_the_raw_bytes_in_five_clicks(watched: Watched) -> None:
    page = watched.open("/")
    page.click("#events a")
    page.click("a[href^='/runs/']")
    page.click("a[href^='/evidence/'][href*='/files/']")  # three clicks
    assert '"num_prompts": 60' in page.inner_text("pre")
    assert watched.faults == []


def test_from_a_number_to_its_bytes_and_to_its_verification(watched: Watched) -> None:
    page = watched.open("/numbers")
    page.click("#numbers td a[href^='/numbers/n-']")
    assert page.locator("mark").first.inner_text().strip()
    page.click("text=Verify now")
    assert "is verified" in page.inner_text("h1")


def test_what_regressed_in_the_past_year_in_two_clicks(watched: Watched) -> None:
    page = watched.open("/")
    page.click("text=What regressed in the past year")
    assert "since=" in page.url and page.locator("#events tbody tr").count() > 0
    assert "slower" in page.locator(".part-entry").first.inner_text()


def test_the_keyboard_reaches_everything(watched: Watched) -> None:
    page = watched.open("/runs")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.tagName") == "INPUT"


def test_the_chart_leads_to_a_run(watched: Watched) -> None:
    page = watched.open("/explore?metric=ttft_p99_ms")
    page.locator("figure svg a").first.click()
    assert "/runs/vllm-bench/" in page.url


def test_a_point_says_its_run_and_value_when_it_is_pointed_at_or_has_the_focus(watched: Watched) -> None:
    page = watched.open("/explore?metric=ttft_p99_ms")
    points = page.locator("figure svg a:has(.point)")
    assert not page.locator(".tip").is_visible()
    for act in (points.first.hover, points.last.focus):
        act()
        said = page.locator(".tip").inner_text()
        assert "vllm-bench/" in said and " ms" in said, said
    page.keyboard.press("Escape")
    assert not page.locator(".tip").is_visible()


def test_on_a_phone_choices_take_a_line_and_the_page_that_is_open_is_in_the_menu(browser: Browser, place: str) -> None:
    watched = Watched(browser, place, viewport={"width": 390, "height": 844})
    for path in ("/frontier", "/changes", "/sql", "/sql/running"):
        page = watched.open(path)
        heights = [each.bounding_box() or {} for each in page.locator(".choices:not(.acts)").all()]
        assert all(each["height"] < 45 for each in heights), (path, heights)
        chosen = page.locator(".bar .here").first.bounding_box() or {}
        assert 0 <= chosen["x"] and chosen["x"] + chosen["width"] <= 390, (path, chosen)
    page = watched.open(addresses()["two sessions"])  # asked already: the verdict comes first, the form opens below its title
    assert page.locator(".part-entry").first.is_visible() and not page.locator("#sides_asked button").is_visible()
    watched.close()


def test_without_scripts_and_on_paper_a_page_says_the_same(browser: Browser, place: str) -> None:
    texts = []
    for scripts in (True, False):
        watched = Watched(browser, place, viewport={"width": 1280, "height": 900}, java_script_enabled=scripts)
        texts.append(watched.open("/changes").locator("main").inner_text())
        watched.page.emulate_media(media="print")
        assert not any(menu.is_visible() for menu in watched.page.locator(".bar nav").all())
        assert watched.page.locator("#findings").is_visible()
        watched.close()
    assert texts[0] == texts[1] and "slower" in texts[0]
