"""No string of the service runs or loads anything: every string field on every page."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext

from dashboard.contract.wire import MAX_IDENTIFIER_BYTES
from tests.browser.conftest import PATIENCE_S, open_page, settle, sign_in
from tests.browser.hostile_service import ALL_MARKUP, FIELDS, HostileService, addresses, rounds
from tests.support.dashboards import Dashboard, hidden, logged_in, over_http
from tests.support.matrix import sampled
from tests.support.processes import Running

ID = "hostile"
NOTE_RUNS = "window.ran = []; window.alert = (what) => window.ran.push(what);"
FOUND = """() => {
  const all = [...document.querySelectorAll("*")], found = [];
  for (const each of all) {
    for (const { name } of each.attributes) {
      if (name.startsWith("on") || name === "style") found.push(`${each.tagName} ${name}`);
    }
    const inside = "iframe object embed base form[action^=http] meta[http-equiv] video audio";
    if (inside.split(" ").some((one) => each.matches(one))) found.push(each.outerHTML);
    if (each.matches("script:not([src]):not([type='application/json'])")) found.push("script");
    if (each.matches("img, link, script[src]")) {
      const to = new URL(each.src || each.href, location.href);
      if (to.origin !== location.origin) found.push(each.outerHTML);
    }
    if (each.matches("a[href]") && !["http:", "https:", "mailto:"].includes(each.protocol)) {
      found.push(each.outerHTML);
    }
  }
  return found.concat(window.ran.map((what) => `ran ${what}`));
}"""
ODD_IDS = [
    *("a/b", "..", ".", "%2f", "%252F", "?x=1", "#top", "a b", "a+b&c=d;e", "\N{GRINNING FACE}"),
    *("new", "<b>", "“”", "\u202egnp", "\x1b[31m", "x" * (MAX_IDENTIFIER_BYTES - 1)),
]

WITH_ID = ("page", "audience", "versions", "conversation", "publish")
"""The pages with an id in their URL."""


@pytest.fixture(scope="module")
def service() -> HostileService:
    return HostileService()


@pytest.fixture(scope="module")
def dashboard(
    service: HostileService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    with over_http(service) as url:
        dashboard = Dashboard(tmp_path_factory.mktemp("hostile"), url)
        dashboard.prepare()
        with dashboard.started() as running:
            yield running


CUT_NAMES = """() => [...document.querySelectorAll("[translate=no]")].filter((name) => {
  if (name.getBoundingClientRect().right <= innerWidth) return false;
  for (let box = name; box; box = box.parentElement) {
    const { overflowX, textOverflow } = getComputedStyle(box);
    if (/auto|scroll/.test(overflowX) || textOverflow === "ellipsis") return false;
  }
  return true;
}).map((name) => name.parentElement.className || name.parentElement.tagName)"""
"""Names that end outside the window, except where they can be scrolled or have an ellipsis."""


# A URL can only act as an attribute, and attributes are also checked with the policy on.
ROUNDS = [
    *(pytest.param(False, number, id=f"policy on-{number}") for number in range(len(rounds()))),
    *(pytest.param(True, number, id=f"policy off-{number}") for number in range(ALL_MARKUP)),
]


@pytest.fixture(scope="module")
def profile(
    request: pytest.FixtureRequest, browser: Browser, dashboard: Running
) -> Iterator[BrowserContext]:
    """Root's browser, with our policy or without, as the markup itself must be harmless."""
    context = browser.new_context(base_url=dashboard.url, bypass_csp=request.param)
    context.set_default_timeout(PATIENCE_S * 1000)
    context.add_init_script(NOTE_RUNS)
    sign_in(context, "root")
    yield context
    context.close()


@pytest.fixture(scope="module")
def client(dashboard: Running) -> Iterator[httpx.Client]:
    """Root, without a browser."""
    with logged_in(dashboard) as client:
        yield client


def try_to_change(client: httpx.Client) -> None:
    """Add a webhook, and record pages and refused operations."""
    client.get("/pages/")
    for address, form in (
        ("/webhooks/new/", {"subscription_id": ID, "label": ID}),
        (addresses(ID)["publish"], {"number": "2"}),
    ):
        page = client.get(address)
        form["csrfmiddlewaretoken"] = hidden(page, "csrfmiddlewaretoken")
        for name in ("operation_key", "shown"):
            if f'name="{name}"' in page.text:
                form[name] = hidden(page, name)
        client.post(address, data=form)


@pytest.fixture
def pages(
    number: int, service: HostileService, client: httpx.Client, request: pytest.FixtureRequest
) -> list[str]:
    """The pages that a round checks, after the service has the round's text everywhere.

    A run checks a third of the pages with one URL each, and a third with both rounds of markup:
    one with the policy on, the other with it off. `--exhaustive` checks all combinations.
    """
    service.text = rounds()[number]
    try_to_change(client)
    alike = range(ALL_MARKUP) if number < ALL_MARKUP else range(ALL_MARKUP, len(rounds()))
    policy_off = request.node.callspec.params["profile"]
    turn = (alike.index(number) + policy_off) % len(alike)
    return sampled(addresses(ID), request.config, turn=turn, of=3 * len(alike))


@pytest.mark.parametrize(("profile", "number"), ROUNDS, indirect=["profile"])
def test_no_string_of_the_service_does_anything(
    profile: BrowserContext,
    pages: list[str],
    number: int,
    record_property: Callable[[str, object], None],
) -> None:
    wrong: dict[str, list[str]] = {}
    troubles: list[str] = []
    watched = open_page(profile, troubles)
    for name in pages:
        troubles.clear()
        watched.goto(addresses(ID)[name])
        settle(watched)
        matching = [
            *watched.evaluate(FOUND),
            *(trouble for trouble in troubles if "status of 50" not in trouble),
        ]
        words = watched.inner_text("main")
        if "evil.example" not in words and "alert(1)" not in words:
            matching.append("nothing was tried: it shows nothing of what the service says")
        if matching:
            wrong[name] = matching
    watched.close()
    payloads = 1 + rounds()[number].count("\n")
    record_property("Hostile strings matrix", FIELDS * payloads)
    assert wrong == {}


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("profile", [False], indirect=True)
def test_no_long_word_widens_a_page(
    profile: BrowserContext, service: HostileService, client: httpx.Client, width: int
) -> None:
    service.text = f"https://example.com/{'W' * 450}"
    try_to_change(client)
    page = open_page(profile, [])
    page.set_viewport_size({"width": width, "height": 800})
    widths, cut = {}, {}
    for name, address in addresses(ID).items():
        page.goto(address)
        widths[name] = page.evaluate("document.documentElement.scrollWidth")
        cut[name] = page.evaluate(CUT_NAMES)
    page.close()
    assert {name: wide for name, wide in widths.items() if wide > width} == {}
    assert {name: names for name, names in cut.items() if names} == {}


@pytest.mark.parametrize("profile", [False], indirect=True)
def test_a_name_from_right_to_left_turns_no_other_text(
    profile: BrowserContext, service: HostileService, client: httpx.Client
) -> None:
    service.text = "\u202egnp.exe"
    try_to_change(client)
    page = open_page(profile, [])
    for name, address in addresses(ID).items():
        page.goto(address)
        names = page.locator("main [translate=no]")
        kinds = names.evaluate_all("(all) => all.map((it) => getComputedStyle(it).unicodeBidi)")
        assert {*kinds} <= {"isolate"}, name
    page.close()


@pytest.mark.parametrize("identifier", ODD_IDS, ids=lambda item: ascii(item)[:20])
def test_any_identifier_is_found_by_its_address(
    client: httpx.Client, service: HostileService, identifier: str, pytestconfig: pytest.Config
) -> None:
    """In a run, each id is in the URL of one page."""
    service.text = "plain"
    turn = ODD_IDS.index(identifier) % len(WITH_ID)
    for name in sampled(WITH_ID, pytestconfig, turn=turn, of=len(WITH_ID)):
        service.paths.clear()
        address = addresses(identifier)[name]
        answer = client.get(address)
        assert (answer.status_code, answer.url.raw_path.decode()) == (200, address), name
        assert any(identifier in path for path in service.paths), name
