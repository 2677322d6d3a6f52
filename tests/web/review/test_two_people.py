"""Two people review one list. Each is offered other items and sees the other's decisions."""

from django.contrib.auth.models import User
from django.test import Client

from dashboard.live.presence import CLAIM
from dashboard.review.models import ReviewDecision, ReviewRun
from tests.support.clock import Clock
from tests.support.html import text
from tests.support.publish_dialog import PublishDialog
from tests.support.release_service import PublishingAudiences
from tests.support.review_desk import ReviewDesk

DIALOG = "/pages/page_1/audiences/aud_1/versions/ver_aud_1_2/publish/"


def test_the_second_begins_at_another_item(desk: ReviewDesk, bens: ReviewDesk) -> None:
    assert (desk.number, bens.number) == (1, 2)
    assert "1 with others" in bens.place


def test_next_skips_what_others_hold(desk: ReviewDesk, bens: ReviewDesk) -> None:
    assert desk.next().number == 3
    assert bens.next().number == 1
    assert desk.next().number == 2


def test_both_working_through_meet_no_item_twice(desk: ReviewDesk, bens: ReviewDesk) -> None:
    desk.decide("skip")
    numbers = [desk.number, bens.number]
    assert len({*numbers}) == 2
    bens.decide("reject")
    desk.decide("reject")
    assert ReviewDecision.objects.filter(kind="rejected").count() == 2
    assert {desk.number, bens.number} <= {0, 1, 2, 3}


def test_a_viewer_holds_no_item(desk: ReviewDesk, as_viewer: Client, as_ben: Client) -> None:
    viewers = ReviewDesk(as_viewer, query="sort=name").begin()
    assert viewers.number == 2
    assert ReviewDesk(as_ben, query="sort=name").begin().number == 2
    assert viewers.next().number == 3


def test_opening_it_anyway_names_the_holder(desk: ReviewDesk, bens: ReviewDesk) -> None:
    bens.open(1)
    assert "paula is on it until" in bens.text
    assert "Take over" in bens.text
    assert "is on it until" not in desk.open(1).text, "one’s own act shuts nobody out"


def test_a_takeover_is_shown_to_its_former_owner(desk: ReviewDesk, bens: ReviewDesk) -> None:
    bens.open(1).decide("take-over")
    assert bens.url.endswith("/1/")
    headers = {"HX-Request": "true", "HX-Target": "now"}
    now = desk.client.get(desk.url, {"shown": desk.shown}, headers=headers)
    assert "ben is on it until" in text(now.text)


def test_a_claim_ends_after_five_minutes(clock: Clock, desk: ReviewDesk, bens: ReviewDesk) -> None:
    clock.advance(CLAIM.total_seconds() + 1)
    assert bens.open(3).next().number == 1


def test_the_claim_of_an_account_turned_off_passes_on(
    desk: ReviewDesk, bens: ReviewDesk, as_administrator: Client, paula: User
) -> None:
    User.objects.filter(pk=paula.pk).update(is_active=False)
    assert bens.open(3).next().number == 1
    assert ReviewDesk(as_administrator, query="sort=name").begin().number != 1


def test_a_second_decision_is_refused_with_the_first(desk: ReviewDesk, bens: ReviewDesk) -> None:
    bens.open(1)
    desk.decide("reject")
    bens.decide("later", later="text")
    assert bens.status == 422
    assert "paula rejected it 0 s ago. Nothing was decided." in bens.text.replace("1 s", "0 s")
    assert ReviewDecision.objects.count() == 1


def test_a_publish_by_a_colleague_is_reported(
    desk: ReviewDesk, bens: ReviewDesk, service: PublishingAudiences, as_ben: Client
) -> None:
    PublishDialog(as_ben, service, DIALOG).publish()  # type: ignore[arg-type]
    desk.decide("reject")
    assert desk.status == 422
    assert "ben published version 2" in desk.text
    assert not ReviewDecision.objects.exists()


def test_an_open_item_says_what_another_decided(desk: ReviewDesk, bens: ReviewDesk) -> None:
    digest = bens.open(1).shown
    desk.decide("reject")
    headers = {"HX-Request": "true", "HX-Target": "now"}
    now = bens.client.get(bens.url, {"shown": digest}, headers=headers).text
    assert "This has changed since you opened it." in now
    assert "paula rejected it" in now


def test_a_skip_affects_its_own_user_only(desk: ReviewDesk, bens: ReviewDesk) -> None:
    bens.open(1)
    desk.decide("skip")
    assert bens.decide("reject").status == 200


def test_the_rest_with_others_is_a_sentence(desk: ReviewDesk, bens: ReviewDesk, ben: User) -> None:
    for number in (1, 3):
        desk.open(number).decide("skip")
    desk.show(desk.client.get(f"/review/{desk.run_id}/"))
    assert "The rest is with others" in desk.text
    assert "ben decide on the last 1" in desk.text


def test_a_deleted_account_takes_its_reviews_along(desk: ReviewDesk, bens: ReviewDesk) -> None:
    bens.decide("reject")
    ReviewRun.objects.get(pk=bens.run_id).user.delete()
    assert ReviewDecision.objects.get().user_name == "ben"
    assert "Rejected by ben" in desk.open(1).text
