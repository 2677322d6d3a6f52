"""The density of a list: from its URL or the user's preference, and part of a view."""

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client

from dashboard.accounts.preferences import save_preferences
from dashboard.saved_views.models import SavedView
from dashboard.web.ui.query_params import PAGE_SIZE
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.operations import operation, operations
from tests.support.saved_views import SavedViews
from tests.support.seeding import seed_audiences, seed_pages, seed_subscription

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lists")]
REGIONS = {
    "/pages/?sort=name": "results",
    "/audiences/?live=not-live": "results",
    "/people/?q=ada": "results",
    "/webhooks/?state=on": "subscriptions",
}
"""The element that htmx replaces, by a URL that filters or sorts each list."""
LISTS = [*REGIONS, "/activity/?kind=publish_version"]
each_list = pytest.mark.parametrize("url", LISTS)


@pytest.fixture
def lists(db: None, fake_service: FakeService, paula: User) -> None:
    """Every list has rows."""
    seed_pages(wire.page())
    seed_audiences(wire.audience(publishedVersion=None))
    operation(paula, "key-0")
    seed_subscription()
    fake_service.answers(200, json=wire.envelope(wire.person(), hasMore=True, nextCursor="c"))


@pytest.fixture
def long_lists(lists: None, paula: User) -> None:
    """Pages, audiences and Activity have more rows than they show at once."""
    many = range(PAGE_SIZE + 1)
    seed_pages(*(wire.page(pageId=f"page_{number}") for number in many))
    others = (f"aud_{number}" for number in many)
    seed_audiences(*(wire.audience(audienceId=other, publishedVersion=None) for other in others))
    operations(paula, [f"key-{number + 1}" for number in many])


def densities(client: Client, url: str, target: str = "") -> list[str]:
    """Return the densities that a response sets, outermost first."""
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    html = client.get(url, headers=headers).text
    marked = [element for tag in ("html", "div") for element in elements(html, tag)]
    return [item.attributes["data-density"] for item in marked if "data-density" in item.attributes]


@each_list
def test_density_is_read_from_url_list_or_user(as_viewer: Client, vera: User, url: str) -> None:
    assert densities(as_viewer, f"{url}&density=comfortable") == ["comfortable"]
    assert densities(as_viewer, url) == []
    save_preferences(vera, density="comfortable")
    assert densities(as_viewer, f"{url}&density=compact") == ["comfortable", "compact"]
    assert densities(as_viewer, f"{url}&density=cosy") == ["comfortable"]


@pytest.mark.parametrize(("url", "target"), REGIONS.items())
def test_htmx_replaces_the_density_with_the_results(
    as_viewer: Client, url: str, target: str
) -> None:
    assert densities(as_viewer, f"{url}&density=comfortable", target) == ["comfortable"]
    assert densities(as_viewer, url, target) == []


@pytest.mark.usefixtures("long_lists")
@each_list
def test_links_and_forms_of_a_list_keep_its_density(as_viewer: Client, url: str) -> None:
    html = as_viewer.get(f"{url}&density=comfortable").text
    own = ("?", f"{url.partition('?')[0]}?")
    places = [
        address
        for element in elements(html)
        for name, address in element.attributes.items()
        if name in ("href", "action", "hx-get", "hx-post") and address.startswith(own)
    ]
    assert {QueryDict(place.partition("?")[2]).get("density") for place in places} == {
        "comfortable"
    }
    assert '<input type="hidden" name="density" value="comfortable">' in html


@pytest.mark.usefixtures("long_lists")
@pytest.mark.parametrize(
    "url", ["/pages/?sort=name", "/audiences/?live=not-live", "/people/?q=ada"]
)
def test_added_rows_leave_the_density_in_the_browsers_url(as_viewer: Client, url: str) -> None:
    comfortable = f"{url}&density=comfortable"
    html = as_viewer.get(comfortable).text
    [more] = [
        element.attributes["hx-get"]
        for element in elements(html, "a")
        if element.attributes.get("id") == "load-more"
    ]
    headers = {
        "HX-Request": "true",
        "HX-Target": "rows",
        "HX-Current-URL": f"http://testserver{comfortable}",
    }
    path = "" if more.startswith("/") else url.partition("?")[0]
    added = as_viewer.get(path + more, headers=headers)
    assert "density=comfortable" in added["HX-Replace-Url"]


@each_list
def test_density_is_part_of_a_view(as_viewer: Client, url: str) -> None:
    path, _, query = url.partition("?")
    list_name = path.strip("/")
    views = SavedViews(as_viewer).save(list_name, state=f"{query}&density=compact")
    assert views.location == f"{url}&density=compact"
    view = SavedView.objects.get()
    changed = response_text(as_viewer.get(f"{url}&density=comfortable&view={view.pk}"))
    assert "“Changed” was changed since it was saved. Save Save as new Reset" in changed
    views.press("save", view.pk, state=f"{query}&density=comfortable")
    views.set_default(view.pk, list_name)
    assert as_viewer.get(path).url == f"{url}&density=comfortable"


def test_the_display_form_sets_density_and_columns(as_viewer: Client) -> None:
    form = "live=changed&view=1&column=name&column=updated&density=compact"
    response = as_viewer.get(f"/audiences/?{form}")
    assert response.url == "/audiences/?live=changed&view=1&density=compact&columns=name%2Cupdated"
    form = form.replace("density=compact", "density=")
    assert "density" not in as_viewer.get(f"/audiences/?{form}").url


def test_the_form_names_the_users_own_density(as_viewer: Client, vera: User) -> None:
    save_preferences(vera, density="comfortable")
    html = as_viewer.get("/activity/?density=compact").text
    assert "My setting: comfortable" in text(html)
    assert '<input type="radio" name="density" value="compact" checked>' in html
