"""The review board: its content, the actions on an item, and its cost."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release, request_check
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from tests.support.html import elements, text
from tests.support.many_audiences import ManyAudiences
from tests.support.release_page import Board, ReleasePage
from tests.support.seeding import seed_thread
from tests.web.releases.conftest import Draft

MAX_KB = 300
"""Limit for the first response with 400 items, which a slow line loads in seconds."""


DETAIL = {"HX-Request": "true", "HX-Target": "detail"}


@pytest.fixture
def seen(draft: Draft, as_viewer: Client) -> Board:
    """Return a function that makes a checked draft, and opens it as Vera."""

    def make(count: int) -> ReleasePage:
        return ReleasePage(as_viewer, draft(count)).open()

    return make


def test_items_show_versions_words_and_marks(seen: Board) -> None:
    page = seen(2)
    assert "Name of aud_1 1 2 +1 −1 Not reviewed" in page.text
    assert "0 of 2 reviewed" in page.text


def test_the_first_item_not_reviewed_is_selected(board: Board) -> None:
    page = board(2)
    first, second = page.items
    page.review(first)
    assert f'data-item="{second.pk}"' in page.open().html


def test_the_selected_item_has_its_difference_and_its_findings(
    service: ManyAudiences, board: Board
) -> None:
    page = board(1)
    service.pending["page_1", "aud_1"] = ["c1", "c2"]
    check_release(page.release)
    page.open()
    assert "removed: 10" in page.text
    assert "inserted: 20" in page.text
    assert "2 pending changes are not in version 2." in page.text
    assert '/aud_1/comments/?version=ver_aud_1_2"' in page.html


def test_an_item_has_the_threads_of_its_audience(seen: Board) -> None:
    page = seen(2)
    on_words = {"place": "audience:page_1:aud_1", "kind": "passage", "version_number": 2}
    seed_thread(1, "Is this agreed?", quote="20 trucks", **on_words)
    seed_thread(2, "Old", quote="10 trucks", is_open=False, **on_words)
    discussion = text(page.open().html.partition('id="item-discussion"')[2].partition("<dl")[0])
    assert "Comments on the audience 1 open On “20 trucks” of version 2 Resolve" in discussion
    assert "Is this agreed?" in discussion
    assert "Is this agreed?" not in page.open(query=f"?item={page.items[1].pk}").text


def test_an_item_is_commented_on_beside_the_release(seen: Board) -> None:
    page = seen(1)
    url, discussions = f"/releases/{page.release.pk}/", ("item-discussion", "discussion")
    places = ("audience:page_1:aud_1", f"release:{page.release.pk}")
    for discussion, place in zip(discussions, places, strict=True):
        headers = {"HX-Request": "true", "HX-Target": discussion, "HX-Current-URL": url}
        fields = {"place": place, "body": f"In {discussion}"}
        html = page.client.post("/comments/new/", fields, follow=True, headers=headers).text
        assert html.lstrip().startswith("<section")
        assert f'id="{discussion}"' in html
        assert f"In {discussion}" in html
        assert f"Comments on the {place.partition(':')[0]}" in html
    both = page.open().html
    assert (
        text(both.partition('id="item-discussion"')[2].partition("<dl")[0]).count(
            "In item-discussion"
        )
        == 1
    )
    assert [both.count(f'id="{discussion}"') for discussion in discussions] == [1, 1]


def test_without_scripts_an_item_opens_by_its_link(seen: Board) -> None:
    page = seen(2)
    link = f"?item={page.items[1].pk}"
    assert link in [element.attributes.get("href", "") for element in elements(page.html, "a")]
    assert f'data-item="{page.items[1].pk}"' in page.open(query=link).html


def test_an_item_of_another_release_is_not_found(seen: Board) -> None:
    first, second = seen(1), seen(1)
    assert first.open(query=f"?item={second.items[0].pk}").status == 404


def test_htmx_gets_the_selected_item_alone(seen: Board) -> None:
    page = seen(3)
    page.open(query=f"?item={page.items[2].pk}", headers=DETAIL)
    assert "Name of aud_3, 3 of 3" in page.text
    assert "Name of aud_1" not in page.html


def test_marking_an_item_opens_the_next(board: Board) -> None:
    page = board(2)
    first, second = page.items
    assert page.review(first).location == f"{page.url()}?item={second.pk}#detail"
    assert "1 of 2 reviewed" in page.open().text


def test_a_mark_by_htmx_changes_list_and_totals(board: Board) -> None:
    page = board(2)
    first, second = page.items
    page.review(first, headers=DETAIL)
    assert f"morph:#item-{first.pk}" in page.html
    assert "1 of 2 reviewed" in page.text
    assert "1 not reviewed" in page.text
    assert page.headers["HX-Replace-Url"] == f"{page.url()}?item={second.pk}"


def test_a_mark_on_a_changed_item_is_refused(service: ManyAudiences, board: Board) -> None:
    page = board(1)
    [item] = page.items
    changed = service.version(("page_1", "aud_1"), 2, supplementaryContext="Other words")
    service.change(("page_1", "aud_1"), latestVersion=changed)
    request_check(page.release)
    check_release(page.release)
    assert page.review(item).status == 422
    assert "This version changed since you opened the page." in page.text
    assert page.items[0].reviewed_at is None


def test_items_are_moved_and_removed(board: Board) -> None:
    page = board(3)
    first, second, third = page.items
    page.act(first, "down")
    page.act(third, "remove")
    assert page.items == [second, first]


def test_another_version_can_be_chosen(service: ManyAudiences, board: Board) -> None:
    page = board(1)
    service.change(("page_1", "aud_1"), latestVersion=service.version(("page_1", "aud_1"), 3))
    service.record()
    options = [element.attributes["value"] for element in elements(page.open().html, "option")]
    assert "ver_aud_1_3" in options
    page.act(page.items[0], "version", version="ver_aud_1_3")
    assert page.items[0].version_number == 3


def test_a_version_of_another_audience_is_refused(board: Board) -> None:
    page = board(2)
    assert page.act(page.items[0], "version", version="ver_aud_2_2").status == 422
    assert "This version belongs to another audience." in page.text


def test_what_cannot_be_rolled_back_is_said_before(board: Board) -> None:
    page = board(1, publishedVersion=None).open().text
    assert "1 first publish can’t be rolled back: Name of aud_1. The API can’t unpublish." in page


def test_a_blocked_version_is_not_counted_on_the_button(
    service: ManyAudiences, board: Board
) -> None:
    page = board(3)
    key = ("page_1", "aud_2")
    service.change(key, latestVersion=service.version(key, 2, status="cancelled"))
    check_release(page.release)
    assert "1 blocked version won’t be sent: Name of aud_2." in page.open().text
    assert "Publish 2 now" in page.text


@pytest.mark.parametrize(("count", "asks"), [(25, False), (26, True)])
def test_the_number_is_typed_above_twenty_five(board: Board, count: int, asks: bool) -> None:
    assert ("Type 26 to publish now" in board(count).open().text) is asks


def test_progress_is_followed_until_the_first_check(board: Board) -> None:
    release = board(3)
    _, *others = release.items
    ReleaseItem.objects.filter(pk__in=[item.pk for item in others]).update(
        checked_at=None, digest=""
    )
    request_check(release.release)
    page = release.watch()
    assert f"release:{release.pk}" in page.topics
    assert "Checking 1 of 3…" in page.text
    assert "Publish 3 now" not in page.text
    assert page.is_moving
    assert "Checking 1 of 3…" in page.refresh().text
    check_release(release.release)
    assert "Publish 3 now" in page.refresh().text
    assert not page.is_moving


def test_an_empty_release_says_where_to_select(board: Board) -> None:
    page = board(1)
    page.act(page.items[0], "remove")
    assert "This release is empty" in page.open().text


def test_a_viewer_sees_all_of_it_and_can_only_comment(seen: Board) -> None:
    page = seen(2)
    assert "You need the Publisher role to publish." in page.text
    main = page.html[page.html.index("<main") : page.html.index("</main>")]
    main = re.sub(r'<form class="composer".*?</form>', "", main, flags=re.DOTALL)
    assert "submit" not in [button.attributes["type"] for button in elements(main, "button")]


def test_a_held_item_can_be_skipped(board: Board) -> None:
    page = board(2)
    held = page.items[0]
    page.release.items.filter(pk=held.pk).update(state=ItemState.HELD, reason="It changed.")
    Release.objects.update(
        state=ReleaseState.HELD, hold_kind="changed", hold_reason="1 version changed."
    )
    assert "1 version changed." in page.open().text
    assert "Continue with 1" in page.text
    page.act(held, "skip")
    page.decide("continue")
    assert (page.items[0].state, page.state) == (ItemState.CANCELED, ReleaseState.RUNNING)


def test_four_hundred_items_are_light(board: Board) -> None:
    page = board(400).open()
    assert len(page.html.encode()) < MAX_KB * 1000
    assert page.value("shown")


@pytest.mark.matrix(cells=1)
@pytest.mark.parametrize(("pages", "name_length"), [(1, 120), (8, 60)])
def test_four_hundred_first_publishes_stay_light(
    service: ManyAudiences, paula: User, as_publisher: Client, pages: int, name_length: int
) -> None:
    keys = []
    for number in range(pages):
        differs = {"effectiveName": "n" * name_length, "publishedVersion": None}
        keys += service.add(400 // pages, page_id=f"page_{number}", **differs)
        service.pages[f"page_{number}"]["name"] = "p" * 60
    service.record()
    release = create_release(name="", note="", audiences=keys, user=paula)
    for key in keys:
        service.change(key, latestVersion=service.version(key, 3))
    check_release(release)
    html = as_publisher.get(f"/releases/{release.pk}/").content
    assert html.count(b"1 warning") >= html.count(b"can\xe2\x80\x99t be rolled back.</span>") == 400
    assert len(html) < MAX_KB * 1000


def test_the_board_makes_constant_queries(board: Board, django_assert_max_num_queries: Any) -> None:
    page = board(40).open()
    with django_assert_max_num_queries(20):
        page.open()
