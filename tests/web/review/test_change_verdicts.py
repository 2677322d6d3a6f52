"""Verdicts on single pending changes: display, export, warnings, and outdated verdicts."""

from typing import Any

import httpx
import pytest
from django.test import Client

from dashboard.review.models import ChangeVerdict
from dashboard.review.verdicts import appears_in
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.publishing_service import PublishingService
from tests.web.review.conftest import CONVERSATION, judge

DIALOG = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/"
NEW = "Runs three hundred trucks out of nine depots"


@pytest.fixture
def changes(db: None, fake_service: FakeService) -> list[dict[str, Any]]:
    """Two pending changes. A test may alter them."""
    pending = [
        {"changeId": "chg_1", "previousValue": "Old title", "newValue": NEW},
        {"changeId": "chg_2", "previousValue": "", "newValue": "Another"},
    ]
    service = PublishingService()

    def answer(request: httpx.Request) -> httpx.Response:
        service.conversation = httpx.Response(200, json=wire.conversation(pendingChanges=pending))
        return service(request)

    fake_service.answer = answer
    return pending


def test_a_verdict_is_shown_in_the_conversation(
    changes: list[dict[str, Any]], as_publisher: Client, as_viewer: Client
) -> None:
    judge(as_publisher, changes[0], "rejected", note="Too narrow.")
    page = text(as_viewer.get(CONVERSATION).text)
    assert "Rejected by paula “Too narrow.”" in page


def test_both_exports_have_verdicts_and_comments(
    changes: list[dict[str, Any]], as_publisher: Client, as_viewer: Client
) -> None:
    assert "pressroom" not in as_viewer.get(f"{CONVERSATION}export/").json()
    judge(as_publisher, changes[0], "rejected", note="Too narrow... again.")
    on_change = {"place": "audience:page_1:aud_1", "kind": "change", "object_id": "chg_1"}
    as_viewer.post("/comments/new/", {**on_change, "digest": "0" * 32, "body": "Agreed with Ana?"})
    recorded = as_viewer.get(f"{CONVERSATION}export/").json()["pressroom"]
    [verdict], [comment] = recorded["verdicts"], recorded["comments"]
    assert (verdict["change"], verdict["verdict"], verdict["by"]) == ("chg_1", "rejected", "paula")
    assert (comment["on"], comment["id"], comment["text"]) == (
        "change",
        "chg_1",
        "Agreed with Ana?",
    )
    markdown = as_viewer.get(f"{CONVERSATION}export/?format=markdown").content.decode()
    assert "Rejected by paula: Too narrow... again.\n" in markdown
    assert "> Agreed with Ana?" in markdown


def test_a_verdict_can_be_undone(changes: list[dict[str, Any]], as_publisher: Client) -> None:
    judge(as_publisher, changes[0], "accepted")
    judge(as_publisher, changes[0], None)
    assert not ChangeVerdict.objects.exists()


def test_a_later_verdict_replaces_the_first(
    changes: list[dict[str, Any]], as_publisher: Client
) -> None:
    judge(as_publisher, changes[0], "accepted")
    judge(as_publisher, changes[0], "rejected")
    assert ChangeVerdict.objects.get().verdict == "rejected"


def test_another_text_makes_a_verdict_old(
    changes: list[dict[str, Any]], as_publisher: Client
) -> None:
    judge(as_publisher, changes[0], "rejected")
    changes[0]["newValue"] = "Runs five trucks"
    assert "Its text has changed since." in text(as_publisher.get(CONVERSATION).text)
    assert "were rejected" not in as_publisher.get(DIALOG).text


def test_a_verdict_on_another_text_is_refused(
    changes: list[dict[str, Any]], as_publisher: Client
) -> None:
    page = judge(as_publisher, changes[0], "rejected", shown="another", note="Too narrow.")
    assert "was edited after the page was loaded. Nothing was recorded." in text(page.text)
    assert "Your note: “Too narrow.”" in text(page.text)
    assert not ChangeVerdict.objects.exists()


def test_a_verdict_on_a_change_that_is_gone_is_refused(
    changes: list[dict[str, Any]], as_publisher: Client
) -> None:
    page = judge(as_publisher, changes.pop(), "rejected", note="Too narrow.")
    assert "no longer pending. Nothing was recorded. Your note: “Too narrow.”" in text(page.text)


def value_in(page: Any, name: str) -> str:
    """Return the value of the first field with this name."""
    inputs = [element.attributes for element in elements(page.text, "input")]
    return str(next(field for field in inputs if field.get("name") == name)["value"])


def test_a_note_waits_for_the_next_sign_in(
    changes: list[dict[str, Any]], as_publisher: Client
) -> None:
    ticket = value_in(as_publisher.get(CONVERSATION), "ticket")
    as_publisher.logout()
    page = judge(as_publisher, changes[0], "rejected", note="Too narrow.", ticket=ticket)
    login = page.redirect_chain[-1][0]
    page = as_publisher.post(login, {"username": "paula", "password": "paula"}, follow=True)
    assert value_in(page, "note") == "Too narrow."


def test_a_note_is_given_back_in_an_outage(
    changes: list[dict[str, Any]], as_publisher: Client, fake_service: FakeService
) -> None:
    ticket = value_in(as_publisher.get(CONVERSATION), "ticket")
    fake_service.answer = lambda request: httpx.Response(400, json={})
    page = judge(as_publisher, changes[0], "rejected", note="Too narrow.", ticket=ticket)
    assert page.status_code == 502
    assert "What you typed Too narrow." in text(page.text)


def test_the_dialog_counts_rejected_changes(
    changes: list[dict[str, Any]], as_publisher: Client
) -> None:
    judge(as_publisher, changes[0], "rejected")
    page = text(as_publisher.get(DIALOG).text)
    assert "1 of 2 pending changes was rejected." in page
    assert "appears in version" not in page


def test_a_rejected_text_within_the_version_is_a_risk(
    changes: list[dict[str, Any]], as_publisher: Client
) -> None:
    changes[0]["newValue"] = wire.version()["supplementaryContext"]
    judge(as_publisher, changes[0], "rejected")
    page = text(as_publisher.get(DIALOG).text)
    assert "paula rejected a change, and its text appears in version 2." in page
    assert "Type 2 to publish" in page


def test_viewers_give_no_verdict(changes: list[dict[str, Any]], as_viewer: Client) -> None:
    assert judge(as_viewer, changes[0], "rejected").status_code == 403
    assert "Accept" not in as_viewer.get(CONVERSATION).text


def test_no_text_of_a_change_is_stored(changes: list[dict[str, Any]], as_publisher: Client) -> None:
    judge(as_publisher, changes[0], "rejected")
    assert NEW not in repr(ChangeVerdict.objects.values().get())


@pytest.mark.parametrize(
    ("words", "is_within"),
    [(NEW, True), (f"Says: {NEW} today", True), (f"{NEW}x", False), ("Runs trucks", False)],
)
def test_a_text_is_found_whole_or_not_at_all(
    changes: list[dict[str, Any]], as_publisher: Client, words: str, is_within: bool
) -> None:
    judge(as_publisher, changes[0], "rejected")
    assert appears_in(ChangeVerdict.objects.get(), words.split()) is is_within
