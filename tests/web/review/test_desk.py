"""A review of a list: its order, its items, the decisions on them, and what is left."""

import re
from datetime import timedelta
from html import escape, unescape
from zoneinfo import ZoneInfo

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dashboard.clock import now as current_time
from dashboard.comments.models import Comment
from dashboard.ledger.models import AudienceRecord
from dashboard.live.presence import CLAIM
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.review.models import MAX_REASON, DecisionKind, ReviewDecision, ReviewRun
from dashboard.web.ui.markup import moment
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.clock import Clock
from tests.support.comment_page import CommentPage
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.publish_dialog import PublishDialog
from tests.support.release_service import PublishingAudiences
from tests.support.review_desk import AROUND, ReviewDesk
from tests.support.seeding import seed_approval, seed_review, seed_view

DIALOG = "/pages/page_1/audiences/{}/versions/ver_{}_2/publish/"


def kinds() -> list[str]:
    decisions = ReviewDecision.objects.filter(undone_at=None).order_by("pk")
    return list(decisions.values_list("kind", flat=True))


# The list and its order


def test_a_list_becomes_a_review(desk: ReviewDesk, service: PublishingAudiences) -> None:
    assert desk.url == f"/review/{desk.run_id}/1/"
    assert (desk.name, desk.place) == ("Name of aud_1", "1 of 3")
    assert "Runs 10 20 trucks" in desk.text.replace("removed: ", "").replace("inserted: ", "")


def test_no_get_begins_a_review(service: PublishingAudiences, as_publisher: Client) -> None:
    assert as_publisher.get("/review/").status_code == 200
    assert not ReviewRun.objects.exists()


def test_the_order_of_a_review_never_changes(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    service.change(("page_1", "aud_2"), effectiveName="A new name")
    service.record()
    assert desk.next().name == "A new name"
    assert desk.next().name == "Name of aud_3"


def test_returning_continues_where_one_left(desk: ReviewDesk) -> None:
    desk.next()
    page = desk.client.get("/review/")
    assert f"/review/{desk.run_id}/2/" in page.text


def test_an_item_chosen_from_the_list_is_where_one_continues(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    desk.open(3).report()
    assert f"/review/{desk.run_id}/3/" in desk.client.get("/review/").text
    dialog = PublishDialog(desk.client, service, DIALOG.format("aud_3", "aud_3"))  # type: ignore[arg-type]
    assert f"/review/{desk.run_id}/3/next/" in dialog.publish().html


def test_a_saved_view_gives_its_name_to_a_review(
    service: PublishingAudiences, as_publisher: Client
) -> None:
    seed_view(None, name="Monday", query="live=changed")
    page = as_publisher.get("/review/").text
    assert "Monday Review: Monday" in text(page)
    desk = ReviewDesk(as_publisher, query="live=changed").begin()
    assert "Review Monday" in desk.text


def test_nothing_that_matches_begins_nothing(as_publisher: Client, db: None) -> None:
    desk = ReviewDesk(as_publisher, query="q=nobody").begin()
    assert "nothing to review" in desk.text
    assert not ReviewRun.objects.exists()


def test_a_form_sent_twice_begins_one_review(
    service: PublishingAudiences, as_publisher: Client
) -> None:
    for _ in range(2):
        as_publisher.post("/review/", {"query": "", "form_key": "k1"})
    assert ReviewRun.objects.count() == 1


def test_a_thousand_are_reviewed_at_most(
    service: PublishingAudiences, as_publisher: Client
) -> None:
    now = timezone.now()
    times = {"first_seen_at": now, "last_seen_at": now, "changed_at": now}
    body = AudienceRecord.objects.values_list("body", flat=True)[0]
    AudienceRecord.objects.bulk_create(
        AudienceRecord(page_id="page_2", audience_id=f"x{n}", body=body, digest="d", **times)
        for n in range(1_000)
    )
    desk = ReviewDesk(as_publisher).begin()
    assert "of 1,000" in desk.place
    summary = as_publisher.get(f"/review/{desk.run_id}/").text
    assert "The list had 1,003 audiences" in " ".join(summary.split())


def test_another_user_s_review_is_not_found(desk: ReviewDesk, as_ben: Client) -> None:
    assert as_ben.get(desk.url).status_code == 404
    assert as_ben.post(f"{desk.url}skip/").status_code == 404


# Decisions


def test_a_version_goes_to_the_review_s_own_draft(desk: ReviewDesk) -> None:
    desk.decide("release").decide("release")
    release = Release.objects.get()
    assert [item.audience_id for item in release.items.all()] == ["aud_1", "aud_2"]
    assert desk.number == 3
    assert "added to a release" in desk.last


def test_another_draft_can_be_chosen(desk: ReviewDesk) -> None:
    desk.decide("release")
    other = Release.objects.get()
    other.pk, other.form_key = None, "other"
    other.save()
    desk.decide("release", release=str(other.pk))
    assert ReleaseItem.objects.get(audience_id="aud_2").release == other


def test_needs_work_becomes_a_comment(desk: ReviewDesk) -> None:
    desk.decide("needs-work", comment="The price line is missing.")
    assert Comment.objects.get().body == "The price line is missing."
    assert "The price line is missing." in desk.open(1).text


def test_a_reason_that_is_too_long_is_refused(desk: ReviewDesk) -> None:
    reason = "x" * (MAX_REASON + 1)
    desk.decide("reject", reason=reason)
    assert desk.status == 422
    assert "The maximum is 2,000 characters. Nothing was decided." in desk.text
    assert reason in desk.html
    desk.decide("reject", reason="Too\0 narrow.\r\n")
    assert ReviewDecision.objects.get().reason == "Too narrow."


def test_words_of_an_item_s_version_can_be_commented(desk: ReviewDesk) -> None:
    url = "/pages/page_1/audiences/aud_1/comments/?version=ver_aud_1_2"
    assert f'href="{url}">Comment<' in desk.html
    assert 'data-digest="' in desk.client.get(url).text


def test_without_scripts_a_comment_returns_to_its_item(desk: ReviewDesk) -> None:
    places = [field.attributes for field in elements(desk.html, "input")]
    assert {"type": "hidden", "name": "next", "value": desk.url} in places
    comments = CommentPage(desk.client)
    added = comments.comment("Which depot?", next=desk.url)
    assert added.url.startswith(f"{desk.url}#thread-")
    unsent = comments.comment(" ", expect=422, next=desk.url)
    assert f'name="next" value="{desk.url}"' in unsent.text


@pytest.mark.parametrize("act", ["edit", "delete"])
def test_a_comment_changed_in_a_review_returns_to_its_item(desk: ReviewDesk, act: str) -> None:
    CommentPage(desk.client).comment("Why?")
    region = {"HX-Request": "true", "HX-Target": "item-discussion"}
    desk.url += "?show=live&resume=1"
    region["HX-Current-URL"] = f"http://testserver{desk.url}"
    for html in (
        desk.client.get(desk.url).text,
        desk.client.get("/comments/?place=audience:page_1:aud_1", headers=region).text,
    ):
        hrefs = [element.attributes.get("href") or "" for element in elements(html, "a")]
        [link] = [href for href in hrefs if f"/{act}/" in href]
        assert f'href="{escape(desk.url)}#thread-' in desk.client.get(link).text
    response = desk.client.post(link, {"body": "Why not?", "next": desk.url})
    assert response.url.partition("#")[0] == desk.url


def test_needs_work_without_words_is_refused(desk: ReviewDesk) -> None:
    desk.decide("needs-work", comment=" ")
    assert desk.status == 422
    assert "Write something first." in desk.text
    assert kinds() == []


def test_what_needs_work_can_be_assigned(desk: ReviewDesk, ben: User) -> None:
    desk.open().decide("needs-work", comment="The price line is missing.", assignee=str(ben.pk))
    assert AudienceRecord.objects.get(audience_id="aud_1").assignee == ben
    assert desk.last == "Name of aud_1, version 2: needs work, assigned to ben"
    lines = b"".join(desk.client.get(f"/review/{desk.run_id}/export.csv")).decode()  # type: ignore[arg-type]
    assert "Needs work" in lines
    assert ",ben," in lines


def test_undo_restores_the_assignee(desk: ReviewDesk, ben: User, paula: User) -> None:
    assign(1, paula)
    desk.decide("needs-work", comment="Why?", assignee=str(ben.pk)).undo()
    assert AudienceRecord.objects.get(audience_id="aud_1").assignee == paula
    desk.decide("needs-work", comment="Why?").undo()
    assert AudienceRecord.objects.get(audience_id="aud_1").assignee == paula


def test_undo_fills_in_what_was_typed(desk: ReviewDesk, ben: User) -> None:
    desk.decide("needs-work", comment="Why <8%>?", assignee=str(ben.pk)).undo()
    assert ">Why &lt;8%&gt;?</textarea>" in desk.html
    assert f'<option value="{ben.pk}" selected>' in desk.html
    desk.decide("needs-work", comment="Why?").undo()
    desk.decide("reject", reason="Too narrow.").undo()
    assert desk.html.count("</textarea>") > 1
    assert ">Too narrow.</textarea>" in desk.html
    assert "Why?" not in desk.html
    desk.decide("reject").undo()
    assert "Too narrow." not in desk.html


def test_undo_keeps_a_later_assignment(desk: ReviewDesk, ben: User, paula: User) -> None:
    desk.decide("needs-work", comment="Why?", assignee=str(ben.pk))
    assign(1, paula)
    desk.undo()
    assert AudienceRecord.objects.get(audience_id="aud_1").assignee == paula


def test_a_deactivated_user_is_not_assigned(desk: ReviewDesk, ben: User) -> None:
    User.objects.filter(pk=ben.pk).update(is_active=False)
    desk.decide("needs-work", comment="Why?", assignee=str(ben.pk))
    assert (desk.status, kinds()) == (422, [])
    assert "This person can’t be assigned." in desk.text
    assert "Why?" in desk.html
    assert not Comment.objects.exists()


def test_a_refused_reason_is_shown_again(desk: ReviewDesk) -> None:
    desk.decide("reject", shown="another", reason="Too narrow.")
    assert desk.status == 422
    assert "Too narrow." in desk.html
    assert "has changed since" in desk.text


def test_the_same_form_decides_once(desk: ReviewDesk) -> None:
    shown, url = desk.shown, desk.url
    for _ in range(2):
        desk.client.post(f"{url}reject/", {"shown": shown})
    assert kinds() == [DecisionKind.REJECTED]


def test_the_script_gets_what_surrounds_the_next(desk: ReviewDesk) -> None:
    response = desk.client.post(f"{desk.url}skip/", {"shown": desk.shown}, headers=AROUND)
    assert response["X-Next"] == f"/review/{desk.run_id}/2/"
    assert "You’re on it" in response.text
    assert 'id="item"' not in response.text
    assert 'id="review-items"' in response.text


@pytest.mark.parametrize("act", ["release", "needs-work", "reject", "later", "skip"])
def test_every_decision_can_be_undone(desk: ReviewDesk, act: str) -> None:
    desk.decide(act, comment="Why?", later="text")
    assert desk.number == 2
    desk.undo()
    assert (desk.number, desk.place) == (1, "1 of 3")
    assert kinds() == []
    assert not ReleaseItem.objects.exists()
    assert not Comment.objects.exists()


def test_undoing_twice_undoes_one(desk: ReviewDesk) -> None:
    desk.decide("skip").decide("reject")
    rejected = ReviewDecision.objects.get(kind=DecisionKind.REJECTED)
    for _ in range(2):
        desk.decide("undo", decision=str(rejected.pk))
    assert kinds() == [DecisionKind.SKIPPED]


@pytest.mark.parametrize("act", ["release", "needs-work", "reject", "later", "skip"])
def test_another_text_than_shown_is_not_decided_on(
    desk: ReviewDesk, service: PublishingAudiences, act: str
) -> None:
    text_2 = service.version(("page_1", "aud_1"), 2, supplementaryContext="Runs 30 trucks.")
    service.change(("page_1", "aud_1"), latestVersion=text_2)
    service.record()
    desk.decide(act, comment="Why?", later="text")
    assert desk.status == 422
    assert "The text has changed since you opened it. Nothing was decided." in desk.text
    assert "Runs 10 30 trucks" in desk.text.replace("removed: ", "").replace("inserted: ", "")
    assert (kinds(), Release.objects.count(), Comment.objects.count()) == ([], 0, 0)


def test_nothing_to_undo_is_a_sentence(desk: ReviewDesk) -> None:
    assert "Nothing to undo." in desk.undo().text


def test_what_cannot_be_undone_is_said_to_the_script(desk: ReviewDesk) -> None:
    desk.decide("release")
    Release.objects.update(state=ReleaseState.RUNNING)
    response = desk.client.post(f"{desk.url}undo/", headers=AROUND)
    assert (response.status_code, kinds()) == (422, ["release"])
    assert "This release is being published. Nothing was changed." in text(response.text)


def test_the_summary_has_the_time_of_the_last_decision(desk: ReviewDesk, clock: Clock) -> None:
    for _ in range(3):
        clock.advance(3600)
        desk.decide("skip")
    last = ReviewDecision.objects.latest("pk").at
    assert f"last decision {text(moment(last))}" in desk.text


def test_without_a_decision_the_summary_names_none(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    AudienceRecord.objects.all().delete()
    desk.next()
    assert "Nothing left to review" in desk.text
    assert "last decision" not in desk.text


def test_a_review_narrowed_to_nothing_says_so(desk: ReviewDesk, ben: User) -> None:
    assert "Nothing is assigned to you" in desk.decide("narrow", assigned_to="me").text
    AudienceRecord.objects.update(assignee=ben)
    desk.show(
        desk.client.post(f"/review/{desk.run_id}/1/narrow/", {"assigned_to": "none"}, follow=True)
    )
    assert "All audiences have an assignee" in desk.text


def test_all_decided_shows_what_became_of_them(desk: ReviewDesk) -> None:
    desk.decide("skip").decide("reject").decide("later", later="text")
    assert desk.number == 0
    assert "Nothing left to review" in desk.text
    assert "<dt>Rejected</dt><dd>1</dd>" in desk.html


def test_next_returns_to_passed_items(desk: ReviewDesk) -> None:
    desk.next().next()
    assert desk.decide("skip").number == 1


def test_audiences_with_nothing_to_publish_are_not_decided(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    service.go_live(("page_1", "aud_3"), "ver_aud_3_2")
    service.record()
    assert "0 decided 2 left" in desk.open().text
    desk.decide("skip")
    assert "1 decided 1 left" in desk.text
    summary = desk.client.get(f"/review/{desk.run_id}/").text
    assert "1 of 2 left" in summary
    assert "<dt>Nothing to publish</dt><dd>1</dd>" in summary
    assert "1 of 2 decided" in text(desk.client.get("/review/").text)


# Later


def test_later_wakes_by_itself(desk: ReviewDesk, clock: Clock) -> None:
    desk.decide("later", later="hours")
    assert "1 later" in desk.place
    clock.advance(timedelta(hours=2, seconds=1).total_seconds())
    assert "later" not in desk.open(1).place
    assert "Back since" in desk.text


def test_later_ends_when_the_text_changes(desk: ReviewDesk, service: PublishingAudiences) -> None:
    desk.decide("later", later="tomorrow")
    service.edit(("page_1", "aud_1"))
    service.record()
    assert "later" not in desk.open(1).place


def test_later_stays_when_something_else_changes(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    desk.decide("later", later="tomorrow")
    service.change(("page_1", "aud_1"), effectiveName="Renamed")
    service.record()
    assert "1 later" in desk.open(2).place


def test_a_review_put_off_as_a_whole_says_so(desk: ReviewDesk) -> None:
    for _ in range(3):
        desk.decide("later", later="text")
    assert desk.name == "All for later"
    assert desk.text.count("when its text changes") >= 3


def test_the_summary_links_items_for_later(desk: ReviewDesk) -> None:
    desk.decide("later", later="text")
    summary = desk.client.get(f"/review/{desk.run_id}/").text
    assert 'id="later"' in summary
    assert f"/review/{desk.run_id}/1/" in summary


def test_a_time_that_occurs_twice_is_asked(desk: ReviewDesk, clock: Clock) -> None:
    when = {"later": "pick", "date": "2030-10-27", "time": "02:30", "zone": "Europe/Oslo"}
    desk.decide("later", **when)
    assert desk.status == 422
    assert "occurs twice" in desk.text
    assert "First 02:30 Second 02:30" in desk.text
    desk.decide("later", **when, fold="second")
    decision = ReviewDecision.objects.get()
    assert decision.until
    assert (decision.until.hour, decision.time_zone) == (1, "Europe/Oslo")
    assert decision.until_as_typed == "2030-10-27 02:30 (second)"


def test_later_for_oneself_hides_nothing_from_others(desk: ReviewDesk, bens: ReviewDesk) -> None:
    desk.decide("later", later="text")
    assert "later" not in bens.open(1).place
    desk.open(2).decide("later", later="text", scope="team")
    assert "1 later" in bens.open(1).place


# Reasons


def test_an_item_shows_why_its_text_changed(desk: ReviewDesk, service: PublishingAudiences) -> None:
    call = {"id": "call_1", "name": "find_person", "arguments": {}, "error": "404 Not Found"}
    messages = [
        {"messageId": f"msg_{number}", "content": f"Message {number}", "timestamp": 1.7e9}
        for number in (1, 2)
    ]
    messages.append(
        {"messageId": "msg_3", "content": "I wrote it.", "reasoning": "Short.", "toolCalls": [call]}
    )
    pending = [{"changeId": "chg_1", "previousValue": "Old", "newValue": "New"}]
    conversation = wire.conversation(messages=messages, pendingChanges=pending)
    service.responses["/v0/pages/page_1/audiences/aud_1/messages"] = httpx.Response(
        200, json=conversation
    )
    form = {"change": "chg_1", "verdict": "rejected", "shown": ""}
    why = desk.open().html.partition('<aside class="why"')[2].partition("</aside>")[0]
    form["shown"] = why.partition('name="shown" value="')[2].partition('"')[0]
    for words in ("All 3 messages", "Message 2", "I wrote it.", "find_person", "failed"):
        assert words in text(why)
    assert "Reasoning, 1 word" in text(why)
    assert "Message 1" not in text(why), "only the last two are shown"
    desk.client.post("/pages/page_1/audiences/aud_1/conversation/verdict/", form)
    assert "Rejected by you" in desk.open().text


# Publishing


def test_a_live_version_offers_the_next_item(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    dialog = PublishDialog(desk.client, service, DIALOG.format("aud_1", "aud_1"))  # type: ignore[arg-type]
    dialog.publish()
    assert dialog.state == "Version 2 is live"
    assert f"/review/{desk.run_id}/1/next/" in dialog.html
    assert desk.next().number == 2
    assert "Published by you" in desk.text


def test_outside_a_review_nothing_is_offered(
    service: PublishingAudiences, as_publisher: Client
) -> None:
    dialog = PublishDialog(as_publisher, service, DIALOG.format("aud_1", "aud_1"))  # type: ignore[arg-type]
    assert "/review/" not in dialog.publish().html.replace('href="/review/"', "")


def test_approval_is_asked_by_the_same_dialog(desk: ReviewDesk) -> None:
    response = desk.client.get(DIALOG.format("aud_1", "aud_1") + "?when=approval")
    checked = response.text.partition('value="approval"')[2][:80]
    assert "checked" in checked


# States


def test_a_live_version_leaves_nothing_to_decide(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    service.carry_out(("page_1", "aud_1"), "ver_aud_1_2")
    assert "Nothing is left to decide." in desk.open().text


def test_a_newer_version_is_what_is_shown(desk: ReviewDesk, service: PublishingAudiences) -> None:
    service.edit(("page_1", "aud_1"))
    assert "Publish version 3" in desk.open().text


def test_an_audience_without_record_is_a_sentence(desk: ReviewDesk) -> None:
    AudienceRecord.objects.filter(audience_id="aud_1").delete()
    assert "no longer returns this audience" in desk.open().text
    assert desk.next().number == 2


def test_an_outage_leaves_the_other_decisions(desk: ReviewDesk, fake_service: FakeService) -> None:
    fake_service.answers(503)
    desk.open()
    assert desk.status == 200
    assert "Publishing is disabled" in desk.text
    assert desk.decide("reject", reason="No.").number == 2


def test_viewers_see_and_decide_nothing(service: PublishingAudiences, as_viewer: Client) -> None:
    desk = ReviewDesk(as_viewer, query="sort=name").begin()
    assert "You need the Publisher role to decide." in desk.text
    assert 'data-key="x"' not in desk.html
    assert as_viewer.post(f"{desk.url}reject/", {"shown": desk.shown}).status_code == 403
    assert desk.next().number == 2


def test_a_right_lost_in_the_middle_is_a_403(desk: ReviewDesk) -> None:
    user = ReviewRun.objects.get().user
    user.groups.clear()
    response = desk.client.post(f"{desk.url}reject/", {"shown": desk.shown})
    assert response.status_code == 403
    assert kinds() == []


def test_an_export_has_every_decision(desk: ReviewDesk) -> None:
    desk.decide("reject", reason="=1+1").undo()
    lines = b"".join(desk.client.get(f"/review/{desk.run_id}/export.csv")).decode().splitlines()  # type: ignore[arg-type]
    assert "Rejected" in lines[1]
    assert "'=1+1" in lines[1]


def test_pruning_deletes_old_reviews_and_skips(desk: ReviewDesk, paula: User) -> None:
    desk.decide("skip").decide("reject").decide("later", later="text")
    old = timezone.now() - timedelta(days=40)
    ReviewDecision.objects.update(at=old)
    ReviewRun.objects.update(active_at=old)
    seed_review(paula, pk=99)
    call_command("prune", "--older-than=30")
    assert [run.pk for run in ReviewRun.objects.all()] == [99]
    assert sorted(kinds()) == [DecisionKind.LATER, DecisionKind.REJECTED]


def test_a_second_tab_decides_nothing_again(desk: ReviewDesk) -> None:
    other = ReviewDesk(desk.client)
    other.url = desk.url
    other.open()
    desk.decide("reject")
    other.decide("later", later="text")
    assert other.status == 422
    assert "You rejected it" in other.text


@pytest.mark.parametrize(
    ("act", "fields", "words"),
    [
        ("skip", {}, "skipped it"),
        ("later", {"later": "text"}, "put it off"),
        ("later", {"later": "text", "scope": "team"}, "put it off for everybody"),
    ],
)
def test_a_second_tab_names_what_the_first_did(
    desk: ReviewDesk, act: str, fields: dict[str, str], words: str
) -> None:
    second = ReviewDesk(desk.client).show(desk.client.get(desk.url))
    desk.decide(act, **fields)
    second.decide("reject", reason="Too narrow.")
    assert re.search(rf"You {words} \S+ \S+ ago\. Nothing was decided\.", second.text)


def test_the_number_of_queries_does_not_grow(
    service: PublishingAudiences, as_publisher: Client, django_assert_max_num_queries: object
) -> None:
    service.add(40)
    person("another", "Publishers")
    desk = ReviewDesk(logged_in(person("quin", "Publishers")), query="sort=name").begin()
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        desk.client.get(desk.url, headers=AROUND)


def ticket_of(desk: ReviewDesk) -> str:
    return desk.html.partition('name="ticket" value="')[2].partition('"')[0]


def test_typed_words_are_given_back_without_the_audience(desk: ReviewDesk) -> None:
    AudienceRecord.objects.filter(audience_id="aud_1").delete()
    desk.decide("needs-work", comment="Too narrow.")
    assert desk.status == 422
    assert "What you typed Too narrow." in desk.text


def test_typed_words_are_given_back_without_the_right(desk: ReviewDesk, paula: User) -> None:
    ticket = ticket_of(desk)
    paula.groups.clear()
    desk.decide("reject", reason="Too narrow.", ticket=ticket)
    assert desk.status == 403
    assert "What you typed Too narrow." in desk.text
    assert "Too narrow." not in desk.decide("reject", reason="Too narrow.", ticket="other").text


def test_an_item_is_assigned_and_shown_again(desk: ReviewDesk, ben: User) -> None:
    [link] = [
        element.attributes["href"]
        for element in elements(desk.html, "a")
        if element.attributes.get("data-key") == "i"
    ]
    form = desk.client.get(unescape(link)).text
    assert f'value="{ben.pk}"' in form
    fields = {"audience": "page_1/aud_1", "next": desk.url, "assignee": str(ben.pk)}
    desk.show(desk.client.post("/audiences/assign/", fields, follow=True))
    assert (desk.number, "ben" in desk.text) == (1, True)


def test_typed_words_wait_for_the_next_sign_in(desk: ReviewDesk) -> None:
    ticket = ticket_of(desk)
    form = {"shown": desk.shown, "reason": "Too narrow.", "ticket": ticket}
    desk.client.logout()
    login = desk.client.post(f"{desk.url}reject/", form).headers["Location"]
    page = desk.client.post(login, {"username": "paula", "password": "paula"}, follow=True).text
    assert "Too narrow." in page
    assert "data-opened" in page
    assert kinds() == []


# Assignees


def assign(number: int, user: User) -> None:
    AudienceRecord.objects.filter(audience_id=f"aud_{number}").update(assignee=user)


def test_a_review_can_be_narrowed_to_own_audiences(desk: ReviewDesk, paula: User) -> None:
    assign(2, paula)
    desk.decide("narrow", assigned_to="me")
    assert (desk.number, "1 left" in desk.text) == (2, True)
    assert 'rel="prev"' not in desk.html
    assert "Everyone 3 You 1 Nobody 2" in desk.text
    assert desk.decide("skip").number == 0
    desk.show(
        desk.client.post(f"/review/{desk.run_id}/2/narrow/", {"assigned_to": ""}, follow=True)
    )
    assert desk.number == 3


def test_a_narrowed_review_stays_at_its_item(desk: ReviewDesk, ben: User) -> None:
    assign(1, ben)
    assert desk.next().decide("narrow", assigned_to="none").number == 2
    assert desk.client.post(f"{desk.url}narrow/", {"assigned_to": "ben"}).status_code == 404


def test_the_list_of_items_marks_assignees_and_open_comments(desk: ReviewDesk, ben: User) -> None:
    assign(3, ben)
    desk.decide("needs-work", comment="Why?")
    assert "1 open comment" in listed_row(desk, 1)
    assert "assigned to ben" in listed_row(desk, 3)


def listed_row(desk: ReviewDesk, number: int) -> str:
    html = desk.client.get(desk.url, headers=AROUND).text.partition('id="review-items"')[2]
    return text(html.partition(f'id="queue-{number}"')[2].partition("</li>")[0])


def test_the_list_of_items_counts_the_words_that_differ(
    desk: ReviewDesk, service: PublishingAudiences
) -> None:
    second, third = ("page_1", "aud_2"), ("page_1", "aud_3")
    assert listed_row(desk, 1).endswith("+1 −1")
    longer = service.version(second, 2, supplementaryContext="Runs 10 trucks, 4 vans.")
    service.change(second, latestVersion=longer)
    service.change(third, publishedVersion=None)
    service.record()
    service.paths.clear()
    assert listed_row(desk, 2).endswith("+2")
    assert listed_row(desk, 3).endswith("– → 2 Name of page_1 +3")
    assert service.paths == [], "the list is read from the ledger"
    assert listed_row(desk.decide("skip"), 1).endswith("1 → 2 Skipped Skipped")


def test_ones_own_claim_is_shown_in_local_time(desk: ReviewDesk, clock: Clock) -> None:
    desk.client.cookies[settings.TIME_ZONE_COOKIE] = "Asia/Tokyo"
    desk.next()
    until = (current_time() + CLAIM).astimezone(ZoneInfo("Asia/Tokyo"))
    assert f"You’re on it Yours until {until:%H:%M}" in desk.text


def test_a_version_waiting_for_approval_is_decided(desk: ReviewDesk) -> None:
    seed_approval(subject={"items": [["page_1", "aud_1", "ver_aud_1_2", "digest"]]})
    assert "2 left" in desk.open(2).text
    assert "Approval requested" in desk.text
