"""Views as tabs, in the sidebar and in the palette; defaults; changes since saving."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.support.html import elements
from tests.support.saved_views import SavedViews
from tests.support.seeding import seed_view

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("audiences")]
CHANGED = "was changed since it was saved"


def current_tab(client: Client, url: str) -> str:
    """Return the URL of the current tab."""
    html = client.get(url).text
    tabs = html[html.index('class="tabs views"') :].partition("</nav>")[0]
    [tab] = [link for link in elements(tabs, "a") if "aria-current" in link.attributes]
    return tab.attributes["href"]


def links(client: Client, url: str) -> list[str]:
    """Return the URLs of all links of a page."""
    html = client.get(url).text
    return [link.attributes.get("href", "") for link in elements(html, "a")]


@pytest.mark.parametrize(
    ("list_name", "query", "url"),
    [
        ("pages", "status=draft&sort=name", "/pages/?status=draft&sort=name"),
        ("audiences", "live=changed", "/audiences/?live=changed"),
        ("activity", "outcome=unknown", "/activity/?outcome=unknown"),
        ("people", "q=ada", "/people/?q=ada"),
        ("webhooks", "state=on", "/webhooks/?state=on"),
    ],
)
def test_a_view_is_a_tab_sidebar_link_and_hit(
    as_viewer: Client, vera: User, list_name: str, query: str, url: str
) -> None:
    seed_view(vera, list_name=list_name, query=query, name="Mine")
    assert current_tab(as_viewer, url) == url
    assert current_tab(as_viewer, url.partition("?")[0]) == url.partition("?")[0]
    assert links(as_viewer, "/").count(url) == 1
    assert url in links(as_viewer, "/find/?q=min")


def test_the_order_of_the_parameters_makes_no_difference(as_viewer: Client, vera: User) -> None:
    view = "live=changed&live=live&sort=name"
    seed_view(vera, query=view)
    for url in ("sort=name&live=live&live=changed", "q=&live=live&sort=name&live=changed&show=100"):
        assert current_tab(as_viewer, f"/audiences/?{url}") == f"/audiences/?{view}"


def test_the_opened_one_of_two_equal_views_is_current(as_viewer: Client, vera: User) -> None:
    seed_view(vera, 1)
    seed_view(None, 2)
    for url in ("/audiences/?live=changed&view=1", "/audiences/?live=changed&view=2"):
        assert url in links(as_viewer, "/")
        assert current_tab(as_viewer, url) == url


def test_a_changed_view_stays_current_and_can_be_saved(
    as_viewer: Client, views: SavedViews, vera: User
) -> None:
    seed_view(vera, name="Mine")
    assert CHANGED not in views.open("/audiences/?live=changed").text
    changed = "/audiences/?live=changed&status=draft&view=1"
    assert f"“Mine” {CHANGED}. Save Save as new Reset" in views.open(changed).text
    assert current_tab(as_viewer, changed) == "/audiences/?live=changed"


def test_links_and_forms_of_a_view_remember_it(as_viewer: Client, vera: User) -> None:
    seed_view(vera)
    html = as_viewer.get("/audiences/?live=changed").text
    assert "?live=changed&amp;sort=-live&amp;view=1" in html
    assert '<input type="hidden" name="view" value="1">' in html


def test_htmx_sets_the_plain_url_of_a_view(as_viewer: Client, vera: User) -> None:
    seed_view(vera)
    headers = {"HX-Request": "true", "HX-Target": "results"}
    same = as_viewer.get("/audiences/?q=&live=changed&view=1", headers=headers)
    assert same["HX-Replace-Url"] == "/audiences/?live=changed"
    changed = as_viewer.get("/audiences/?q=an&live=changed&view=1", headers=headers)
    assert changed["HX-Replace-Url"] == "/audiences/?q=an&live=changed&view=1"
    assert CHANGED in changed.text


def test_a_hint_for_a_missing_view_is_ignored(paulas: SavedViews, vera: User) -> None:
    seed_view(vera)
    for hint in ("1", "999", "x", "9" * 30):
        page = paulas.open(f"/audiences/?live=changed&view={hint}").text
        assert CHANGED not in page
        assert "Brightwater Foods" in page


def test_a_viewer_uses_the_teams_views_but_saves_others(views: SavedViews) -> None:
    seed_view(None, name="Team")
    page = views.open("/audiences/?live=live&view=1").text
    assert f"“Team” {CHANGED}. Save as new Reset" in page
    assert "Everyone" not in page


@pytest.mark.parametrize("path", ["/pages/", "/audiences/", "/activity/", "/people/", "/webhooks/"])
def test_a_list_opens_with_its_default_view(
    as_viewer: Client, views: SavedViews, vera: User, path: str
) -> None:
    names = {"/people/": "people", "/activity/": "activity", "/webhooks/": "webhooks"}
    list_name = names.get(path, path.strip("/"))
    query = {"pages": "q=fleet", "people": "q=ada", "webhooks": "state=on"}.get(list_name, "")
    query = query or {"activity": "kind=create_page"}.get(list_name, "live=changed")
    seed_view(vera, list_name=list_name, query=query)
    views.set_default(1, list_name)
    assert as_viewer.get(path).url == f"{path}?{query}"
    assert current_tab(as_viewer, f"{path}?view=all") == f"{path}?view=all"
    assert f"{path}?view=all" in links(as_viewer, f"{path}?{query}")


def test_ones_own_default_wins_over_the_teams(
    paulas: SavedViews, as_viewer: Client, views: SavedViews, vera: User
) -> None:
    seed_view(None, 1)
    seed_view(vera, 2, query="live=live")
    paulas.edit(name="Team", share="team", team_default="1")
    assert as_viewer.get("/audiences/").url == "/audiences/?live=changed"
    views.set_default(2)
    assert as_viewer.get("/audiences/").url == "/audiences/?live=live"
    views.set_default("all")
    assert as_viewer.get("/audiences/").status_code == 200
    views.set_default("")
    assert as_viewer.get("/audiences/").url == "/audiences/?live=changed"


def test_defaults_belong_to_their_list_and_user(views: SavedViews, paula: User) -> None:
    seed_view(paula, 1)
    seed_view(None, 2, list_name="pages")
    for pk in (1, 2, 3):
        assert views.set_default(pk).status == 404


def test_clearing_filters_of_a_default_shows_the_whole_list(
    as_viewer: Client, views: SavedViews, vera: User
) -> None:
    seed_view(vera, query="live=live")
    views.set_default()
    headers = {"HX-Request": "true", "HX-Target": "results"}
    cleared = as_viewer.get("/audiences/?q=&view=all", headers=headers)
    assert cleared["HX-Replace-Url"] == "/audiences/?view=all"


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("/audiences/?page=gone", "Page “gone” doesn’t exist anymore"),
        ("/audiences/?status=paused", "Latest status “paused” doesn’t exist anymore"),
        ("/audiences/?live=half", "Live status “half” doesn’t exist anymore"),
        ("/audiences/?columns=name,shoe", "Column “shoe” doesn’t exist anymore"),
        ("/pages/?status=paused&sort=name", "Status “paused” doesn’t exist anymore"),
        ("/activity/?actor=someone", "User “someone” doesn’t exist anymore"),
        ("/webhooks/?event=page.eaten", "Event “page.eaten” doesn’t exist anymore"),
        ("/activity/?density=cosy", "Density “cosy” doesn’t exist anymore"),
    ],
)
def test_a_vanished_value_is_named_and_left_out(views: SavedViews, url: str, line: str) -> None:
    page = views.open(url).text
    assert f"{line} and is ignored. Remove" in page
    assert "No audiences match" not in page
    assert "No pages match" not in page


def test_an_ignored_value_is_removed_by_a_link(as_viewer: Client) -> None:
    url = "/audiences/?page=page_1&page=gone&sort=name&show=100"
    assert "?page=page_1&sort=name" in links(as_viewer, url)


def test_the_sidebar_is_bounded_and_leads_to_the_rest(views: SavedViews, vera: User) -> None:
    for pk in range(1, 11):
        seed_view(vera, pk)
    assert "All 10 views" in views.open("/").text
    assert "View 8" in views.open("/").text
    assert "View 9" not in views.open("/").text
    assert "View 9" in views.open("/saved-views/").text
