"""Nothing that the service says is ever run, or loads anything: every string field, every page."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from dashboard.contract.wire import MAX_IDENTIFIER_BYTES
from tests.browser.conftest import PATIENCE_S, open_page, settle, sign_in
from tests.browser.hostile_service import ALL_MARKUP, FIELDS, HostileService, addresses, rounds
from tests.support.dashboards import Dashboard, hidden, logged_in, over_http
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


# An address does something only as an attribute, which is looked at with the policy on as well.
ROUNDS = [
    *(pytest.param(False, number, id=f"policy on-{number}") for number in range(len(rounds()))),
    *(pytest.param(True, number, id=f"policy off-{number}") for number in range(ALL_MARKUP)),
]


@pytest.fixture(scope="module")
def profile(
    request: pytest.FixtureRequest, browser: Browser, dashboard: Running
) -> Iterator[BrowserContext]:
    """Root's browser, with our policy and with none: the markup itself must be harmless."""
    context = browser.new_context(base_url=dashboard.url, bypass_csp=request.param)
    context.set_default_timeout(PATIENCE_S * 1000)
    context.add_init_script(NOTE_RUNS)
    sign_in(context, "root")
    yield context
    context.close()


def try_to_change(dashboard: Running) -> None:
    """Put a webhook on the list, and refused operations on record."""
    with logged_in(dashboard) as browser:
        for address, form in (
            ("/webhooks/new/", {"subscription_id": ID, "label": ID}),
            (addresses(ID)["publish"], {"number": "2"}),
        ):
            page = browser.get(address)
            form["csrfmiddlewaretoken"] = hidden(page, "csrfmiddlewaretoken")
            for name in ("operation_key", "shown"):
                if f'name="{name}"' in page.text:
                    form[name] = hidden(page, name)
            browser.post(address, data=form)


@pytest.mark.parametrize(("profile", "number"), ROUNDS, indirect=["profile"])
def test_no_string_of_the_service_does_anything(
    profile: BrowserContext,
    service: HostileService,
    dashboard: Running,
    number: int,
    record_property: Callable[[str, object], None],
) -> None:
    service.text = rounds()[number]
    try_to_change(dashboard)
    wrong: dict[str, list[str]] = {}
    shown = 0
    troubles: list[str] = []
    watched = open_page(profile, troubles)
    for name, address in addresses(ID).items():
        troubles.clear()
        watched.goto(address)
        settle(watched)
        shown += "evil.example" in (words := watched.inner_text("main")) or "alert(1)" in words
        found = [
            *watched.evaluate(FOUND),
            *(each for each in troubles if "status of 50" not in each),
        ]
        if found:
            wrong[name] = found
    watched.close()
    payloads = 1 + service.text.count("\n")
    record_property("Hostile strings matrix", FIELDS * payloads)
    assert wrong == {}
    # Else nothing was tried: all but the overview and the like show what the service says.
    assert shown >= 10


@pytest.mark.parametrize("identifier", ODD_IDS, ids=lambda each: ascii(each)[:20])
def test_any_identifier_is_found_by_its_address(
    dashboard: Running, service: HostileService, identifier: str
) -> None:
    service.text = "plain"
    with logged_in(dashboard) as client:
        for name in ("page", "audience", "versions", "conversation", "publish"):
            service.paths.clear()
            address = addresses(identifier)[name]
            answer = client.get(address)
            assert (answer.status_code, answer.url.raw_path.decode()) == (200, address), name
            assert any(identifier in path for path in service.paths), name
