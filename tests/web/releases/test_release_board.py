"""The review board: its content, the actions on an item, and its cost."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release, request_check
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from tests.support.html import elements, page_text, response_text, text
from tests.support.live_page import Region
from tests.support.many_audiences import ManyAudiences
from tests.support.release_page import ReleasePage
from tests.support.seeding import seed_thread
from tests.web.releases.conftest import Draft, hidden, url

MAX_KB = 300
"""Limit for the first response with 400 items, which a slow line loads in seconds."""


def items_of(release: Release) -> list[ReleaseItem]:
    return list(release.items.all())


def act(client: Client, item: ReleaseItem, action: str, **fields: str) -> Any:
    """Press a button of an item."""
    address = url(item.release, "items", str(item.pk))
    return client.post(address, {"action": action, **fields})


def test_items_show_versions_words_and_marks(draft: Draft, as_viewer: Client) -> None:
    page = page_text(as_viewer, url(draft(2)))
    assert "Name of aud_1" in page
    assert "Name of aud_1 1 2 +1 −1 Not reviewed" in page
    assert "0 of 2 reviewed" in page


def test_the_first_item_not_reviewed_is_selected(draft: Draft, as_publisher: Client) -> None:
    release = draft(2)
    first, second = items_of(release)
    act(as_publisher, first, "reviewed", shown=first.digest)
    html = as_publisher.get(url(release)).text
    assert f'data-item="{second.pk}"' in html


def test_the_selected_item_has_its_difference_and_its_findings(
    service: ManyAudiences, draft: Draft, as_viewer: Client
) -> None:
    release = draft(1)
    service.pending["page_1", "aud_1"] = ["c1", "c2"]
    check_release(release)
    page = page_text(as_viewer, url(release))
    assert "removed: 10" in page
    assert "inserted: 20" in page
    assert "2 pending changes are not in version 2." in page


def test_an_item_names_open_threads_on_its_words(draft: Draft, as_viewer: Client) -> None:
    release = draft(1)
    on_words = {"place": "audience:page_1:aud_1", "kind": "passage", "version_number": 2}
    seed_thread(1, "Is this agreed?", quote="20 trucks", **on_words)
    seed_thread(2, "Old", quote="10 trucks", is_open=False, **on_words)
    page = page_text(as_viewer, url(release))
    assert "On “20 trucks” of version 2: Is this agreed? Open thread" in page
    assert "10 trucks”" not in page


def test_without_scripts_an_item_opens_by_its_link(draft: Draft, as_viewer: Client) -> None:
    release = draft(2)
    html = as_viewer.get(url(release)).text
    links = [element.attributes.get("href", "") for element in elements(html, "a")]
    second = items_of(release)[1].pk
    assert f"?item={second}" in links
    page = as_viewer.get(f"{url(release)}?item={second}").text
    assert f'data-item="{second}"' in page


def test_an_item_of_another_release_is_not_found(draft: Draft, as_viewer: Client) -> None:
    first, second = draft(1), draft(1)
    item = items_of(second)[0].pk
    assert as_viewer.get(f"{url(first)}?item={item}").status_code == 404


def test_htmx_gets_the_selected_item_alone(draft: Draft, as_viewer: Client) -> None:
    release = draft(3)
    last = items_of(release)[2]
    headers = {"HX-Request": "true", "HX-Target": "detail"}
    html = as_viewer.get(f"{url(release)}?item={last.pk}", headers=headers).text
    assert "Name of aud_3, 3 of 3" in text(html)
    assert "Name of aud_1" not in html


def test_marking_an_item_opens_the_next(draft: Draft, as_publisher: Client) -> None:
    release = draft(2)
    first, second = items_of(release)
    answer = act(as_publisher, first, "reviewed", shown=first.digest)
    assert answer.url == f"{url(release)}?item={second.pk}#detail"
    assert "1 of 2 reviewed" in page_text(as_publisher, url(release))


def test_a_mark_by_htmx_changes_list_and_totals(draft: Draft, as_publisher: Client) -> None:
    first, second = items_of(draft(2))
    address = url(first.release, "items", str(first.pk))
    fields = {"action": "reviewed", "shown": first.digest}
    headers = {"HX-Request": "true", "HX-Target": "detail"}
    answer = as_publisher.post(address, fields, headers=headers)
    html = answer.text
    assert f"morph:#item-{first.pk}" in html
    assert "1 of 2 reviewed" in text(html)
    assert "1 not reviewed" in text(html)
    assert answer["HX-Replace-Url"] == f"{url(first.release)}?item={second.pk}"


def test_a_mark_on_a_changed_item_is_refused(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    release = draft(1)
    item = items_of(release)[0]
    seen = item.digest
    changed = service.version(("page_1", "aud_1"), 2, supplementaryContext="Other words")
    service.change(("page_1", "aud_1"), latestVersion=changed)
    request_check(release)
    check_release(release)
    answer = act(as_publisher, item, "reviewed", shown=seen)
    assert answer.status_code == 422
    assert "This version changed since you opened the page." in response_text(answer)
    item.refresh_from_db()
    assert item.reviewed_at is None


def test_items_are_moved_and_removed(draft: Draft, as_publisher: Client) -> None:
    release = draft(3)
    first, second, third = items_of(release)
    act(as_publisher, first, "down")
    act(as_publisher, third, "remove")
    assert [item.pk for item in release.items.all()] == [second.pk, first.pk]


def test_another_version_can_be_chosen(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    release = draft(1)
    item = items_of(release)[0]
    service.change(("page_1", "aud_1"), latestVersion=service.version(("page_1", "aud_1"), 3))
    service.record()
    html = as_publisher.get(url(release)).text
    options = [element.attributes["value"] for element in elements(html, "option")]
    assert "ver_aud_1_3" in options
    act(as_publisher, item, "version", version="ver_aud_1_3")
    item.refresh_from_db()
    assert item.version_number == 3


def test_a_version_of_another_audience_is_refused(draft: Draft, as_publisher: Client) -> None:
    item = items_of(draft(2))[0]
    answer = act(as_publisher, item, "version", version="ver_aud_2_2")
    assert answer.status_code == 422
    assert "This version belongs to another audience." in response_text(answer)


def test_what_cannot_be_rolled_back_is_said_before(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    page = page_text(as_publisher, url(draft(1, publishedVersion=None)))
    assert "1 first publish can’t be rolled back: Name of aud_1. The API can’t unpublish." in page


def test_a_blocked_version_is_not_counted_on_the_button(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    release = draft(3)
    key = ("page_1", "aud_2")
    service.change(key, latestVersion=service.version(key, 2, status="cancelled"))
    check_release(release)
    page = page_text(as_publisher, url(release))
    assert "1 blocked version won’t be sent: Name of aud_2." in page
    assert "Publish 2 now" in page


@pytest.mark.parametrize(("count", "asks"), [(25, False), (26, True)])
def test_the_number_is_typed_above_twenty_five(
    draft: Draft, as_publisher: Client, count: int, asks: bool
) -> None:
    assert ("Type 26 to publish now" in page_text(as_publisher, url(draft(count)))) is asks


def test_progress_is_followed_until_the_first_check(
    service: ManyAudiences, draft: Draft, as_publisher: Client
) -> None:
    release = draft(3)
    items = items_of(release)
    ReleaseItem.objects.filter(pk__in=[items[1].pk, items[2].pk]).update(checked_at=None, digest="")
    request_check(release)
    page = Region(as_publisher, url(release), "release")
    assert f"release:{release.pk}" in page.topics
    assert "Checking 1 of 3…" in page.text
    assert "Publish 3 now" not in page.text
    assert page.is_moving
    assert "Checking 1 of 3…" in page.refresh().text
    check_release(release)
    assert "Publish 3 now" in page.refresh().text
    assert not page.is_moving


def test_an_empty_release_says_where_to_select(draft: Draft, as_publisher: Client) -> None:
    release = draft(1)
    act(as_publisher, items_of(release)[0], "remove")
    assert "This release is empty" in page_text(as_publisher, url(release))


def test_a_viewer_sees_all_of_it_and_can_only_comment(draft: Draft, as_viewer: Client) -> None:
    html = as_viewer.get(url(draft(2))).text
    assert "You need the Publisher role to publish." in text(html)
    main = html[html.index("<main") : html.index("</main>")].partition('id="new-thread-form"')[0]
    buttons = [
        element for element in elements(main, "button") if element.attributes["type"] == "submit"
    ]
    assert buttons == []


def test_a_held_item_can_be_skipped(draft: Draft, as_publisher: Client) -> None:
    release = draft(2)
    held = items_of(release)[0]
    release.items.filter(pk=held.pk).update(state=ItemState.HELD, reason="It changed.")
    Release.objects.filter(pk=release.pk).update(
        state=ReleaseState.HELD, hold_kind="changed", hold_reason="1 version changed."
    )
    page = page_text(as_publisher, url(release))
    assert "1 version changed." in page
    assert "Continue with 1" in page
    act(as_publisher, held, "skip")
    ReleasePage(as_publisher, release).decide("continue")
    held.refresh_from_db()
    release.refresh_from_db()
    assert (held.state, release.state) == (ItemState.CANCELED, ReleaseState.RUNNING)


def test_four_hundred_items_are_light(draft: Draft, as_publisher: Client) -> None:
    release = draft(400)
    answer = as_publisher.get(url(release))
    assert len(answer.content) < MAX_KB * 1000
    assert hidden(answer.text, "shown")


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
    html = as_publisher.get(url(release)).content
    assert html.count(b"1 warning") >= html.count(b"can\xe2\x80\x99t be rolled back.</span>") == 400
    assert len(html) < MAX_KB * 1000


def test_the_board_makes_constant_queries(
    draft: Draft, as_publisher: Client, django_assert_max_num_queries: Any
) -> None:
    release = draft(40)
    as_publisher.get(url(release))
    with django_assert_max_num_queries(20):
        as_publisher.get(url(release))
