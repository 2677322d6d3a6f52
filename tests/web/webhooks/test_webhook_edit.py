"""Editing a subscription sends exactly the body shown, and never loses input."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.contract.webhooks import EventName
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Outcome
from tests.support import wire
from tests.support.embedded_api_factories import make_subscription
from tests.support.html import elements, response_text, text
from tests.support.webhook_form import LIVE, PAGE, WebhookForm, fields, sent_body
from tests.support.webhook_service import (
    WebhookService,
    answers,
    away,
    cut,
    garbage,
    ignores,
    mistakes,
    shows,
)

NEW = "https://hooks.example/v2"


@pytest.fixture
def form(as_administrator: Client, webhooks: WebhookService) -> WebhookForm:
    """The form, in Ada's browser."""
    return WebhookForm(as_administrator, webhooks)


# What is sent


def test_save_is_primary_only_after_a_change(form: WebhookForm) -> None:
    html = form.page()
    assert classes_of_save(html) == ["button"]
    part = form.preview(url=NEW).text
    assert classes_of_save(part) == ["button", "primary"]
    assert "Save changes" in text(part)


def classes_of_save(html: str) -> list[str]:
    (save,) = [e for e in elements(html, "button") if e.attributes.get("id") == "save"]
    return save.attributes["class"].split()


def test_the_service_receives_exactly_the_body_shown(form: WebhookForm) -> None:
    events = ["form.submitted", "page.version.created"]
    response = form.post(form.filled(url=NEW, events=events))
    assert form.changes == []
    reviewed = sent_body(response.text)
    done = form.submit(response, follow=True)
    assert form.changes == [reviewed] == [{"url": NEW, "events": events}]
    assert "URL and events updated." in response_text(done)


@pytest.mark.parametrize(
    ("differs", "body"),
    [
        ({"url": NEW}, {"url": NEW}),
        ({"events": []}, {"events": []}),
        ({"events": ["form.enriched"]}, {"events": ["form.enriched"]}),
        (
            {"events": ["form.enriched", "form.submitted", "form.enriched"]},
            {"events": ["form.submitted", "form.enriched"]},
        ),
        ({"url": f"  {NEW} "}, {"url": NEW}),
        (
            {"url": "HTTPS://HOOKS.example:8443/é?x=%20"},
            {"url": "HTTPS://HOOKS.example:8443/é?x=%20"},
        ),
    ],
)
def test_only_what_was_changed_is_sent(
    form: WebhookForm, differs: dict[str, Any], body: dict[str, Any]
) -> None:
    form.save(**differs)
    assert form.changes == [body]


def test_an_unchanged_form_sends_nothing(form: WebhookForm) -> None:
    response = form.post(form.filled())
    assert "No changes to send." in response_text(response)
    assert form.changes == []
    assert Operation.objects.count() == 0


def test_a_body_that_changed_is_shown_before_publishing(form: WebhookForm) -> None:
    reviewed = form.review(url=NEW)
    response = form.post(reviewed | {"url": "https://another.example"})
    assert form.changes == []
    assert sent_body(response.text) == {"url": "https://another.example"}


def test_the_live_part_shows_body_and_findings(form: WebhookForm) -> None:
    data = form.filled(url="http://10.0.0.5/in", step="preview")
    form.service.reads = 0
    part = form.post(data, headers=LIVE).text
    assert "<html" not in part
    reviewed = next(
        e.attributes for e in elements(part, "input") if e.attributes["name"] == "shown"
    )
    assert json.loads(reviewed["value"]) == {"url": "http://10.0.0.5/in"}
    assert "10.0.0.5 is a private address" in text(part)
    assert "http isn’t encrypted" in text(part)
    assert (form.service.reads, form.changes) == (0, [])


def test_the_preview_shows_why_nothing_can_be_sent_yet(form: WebhookForm) -> None:
    part = form.preview(url="htps://hooks.example")
    assert part.status_code == 200
    assert "It starts with htps://. Did you mean https://?" in response_text(part)


def test_a_change_is_on_record_with_the_values_before(form: WebhookForm) -> None:
    form.save(url=NEW)
    operation = Operation.objects.get()
    assert (operation.outcome, operation.body_sent) == (Outcome.ACCEPTED, {"url": NEW})
    assert (operation.subscription_id, operation.target_name) == ("whs_1", "CRM")
    assert operation.before["url"] == "https://hooks.example/in"
    record = response_text(
        form.client.get(reverse("operation-detail", args=[operation.operation_key]))
    )
    assert "https://hooks.example/in" in record.split("Requested changes")[1]
    assert NEW in record.split("Requested changes")[1]


def test_saving_reads_once_and_writes_once(form: WebhookForm) -> None:
    data = form.review(url=NEW)
    form.service.reads = 0
    form.post(data)
    assert (form.service.reads, len(form.changes)) == (1, 1)


def test_a_form_sent_twice_is_sent_once(form: WebhookForm) -> None:
    data = form.review(url=NEW)
    form.post(data)
    again = form.post(data, follow=True)
    assert len(form.changes) == 1
    assert "This form was already sent. Nothing was sent again." in response_text(again)


@pytest.mark.parametrize("key", ["", "none of ours", "00000000"])
def test_a_form_without_a_key_gets_one(form: WebhookForm, key: str) -> None:
    response = form.post(form.review(url=NEW) | {"operation_key": key})
    assert (response.status_code, form.changes) == (422, [])
    form.submit(response)
    assert form.changes == [{"url": NEW}]


def test_the_key_of_another_operation_sends_nothing(form: WebhookForm) -> None:
    data = form.review(url=NEW)
    key = data["operation_key"]
    form.post(data)
    again = form.review(url="https://third.example")
    response = form.post(again | {"operation_key": key})
    assert response.status_code == 409
    assert len(form.changes) == 1
    assert "operation key was already used for another request" in response_text(response)
    form.submit(response)
    assert form.service.held["url"] == "https://third.example"


def test_a_response_with_different_values_is_reported(form: WebhookForm) -> None:
    form.service.way = ignores
    response = form.save(url=NEW)
    assert "The service accepted the update but returned different values: url." in response_text(
        response
    )


def test_the_embedded_service_is_changed(as_administrator: Client) -> None:
    there = make_subscription(events=None)
    as_administrator.post("/webhooks/new/", {"subscription_id": there.id})
    page = reverse("subscription-detail", args=[there.id])
    data = fields(as_administrator.get(page).text) | {"mode": "pick", "events": ["form.enriched"]}
    reviewed = fields(as_administrator.post(page, data).text)
    as_administrator.post(page, reviewed)
    there.refresh_from_db()
    assert there.events == ["form.enriched"]
    data = fields(as_administrator.get(page).text) | {"url": "https://xn--/"}
    refused = as_administrator.post(page, fields(as_administrator.post(page, data).text))
    assert "The host of the URL isn’t a valid name" in response_text(refused)


def test_label_url_and_events_are_saved_by_one_button(form: WebhookForm) -> None:
    page = form.page()
    buttons = [element.attributes for element in elements(page.split("<main")[1], "button")]
    visible = [button for button in buttons if "hidden" not in button.get("class", "")]
    assert [item.get("id") for item in visible if item.get("type") == "submit"].count("save") == 1
    assert "Save label" not in text(page)
    reviewed = form.review(label="Sales", url=NEW, events=[])
    assert reviewed["label"] == "Sales"
    assert SubscriptionRecord.objects.get().label == "CRM"
    done = form.post(reviewed, follow=True)
    assert "Label, URL and events updated." in response_text(done)
    assert SubscriptionRecord.objects.get().label == "Sales"
    assert form.changes == [{"url": NEW, "events": []}]


def test_a_label_changed_by_a_colleague_is_kept(form: WebhookForm) -> None:
    data = form.review(url=NEW)
    SubscriptionRecord.objects.update(label="Theirs")
    form.post(data)
    assert (SubscriptionRecord.objects.get().label, form.changes) == ("Theirs", [{"url": NEW}])


def test_a_typed_label_survives_a_conflict_and_a_refusal(form: WebhookForm) -> None:
    data = form.review(label="Sales", url=NEW)
    form.service.held = wire.subscription(events=["form.enriched"])
    conflict = fields(form.post(data).text)
    form.service.way = answers(422, detail="No.", errors=[])
    refused = form.post(conflict)
    assert refused.status_code == 422
    assert (fields(refused.text)["label"], fields(refused.text)["seen_label"]) == ("Sales", "CRM")
    assert SubscriptionRecord.objects.get().label == "CRM"


# The address


INVALID = [
    ("", "Enter the URL that receives the events."),
    ("x" * 2001, "at most 2,000 characters; this URL has 2,001"),
    ("hooks.example/in", "Start with https://."),
    ("//hooks.example/in", "Start with https://."),
    ("htps://hooks.example", "Did you mean https://?"),
    ("ftp://hooks.example", "not ftp:"),
    ("javascript:alert(1)", "not javascript:"),
    ("JavaScript:alert(1)", "not JavaScript:"),
    ("java\tscript:alert(1)", "Remove spaces"),
    ("data:text/html,x", "not data:"),
    ("mailto:a@b.example", "not mailto:"),
    ("localhost:8000/in", "not localhost:"),
    ("https:hooks.example", "not https:"),
    ("https://", "The URL has no host."),
    ("https:///in", "The URL has no host."),
    ("https://?x", "The URL has no host."),
    ("https://[::1/in", "The host or port is invalid."),
    ("https://hooks.example:99999/", "The host or port is invalid."),
    ("https://hooks.example:0/", "Port 0 is invalid."),
    ("https://hooks.example/a b", "Remove spaces"),
    ("https://hooks.example/\u202egpj", "Remove spaces, hidden characters"),
    ("https:\\\\hooks.example", "Remove spaces, hidden characters and backslashes."),
    ("https://hooks.example/\0", "Null characters are not allowed."),
]
RARELY_REACHED = [
    ("http://hooks.example/", "http isn’t encrypted"),
    ("https://ada:secret@hooks.example/", "The URL contains credentials"),
    ("https://localhost/", "is the machine that the service runs on"),
    ("https://api.localhost./", "is the machine that the service runs on"),
    ("https://127.0.0.1/", "is the machine that the service runs on"),
    ("https://127.1/", "which is 127.0.0.1,"),
    ("https://2130706433/", "which is 127.0.0.1,"),
    ("https://0x7f000001/", "which is 127.0.0.1,"),
    ("https://[::1]/", "is the machine that the service runs on"),
    ("https://[::ffff:10.0.0.1]/", "10.0.0.1, is a private address"),
    ("https://10.20.0.14:8088/", "is a private address"),
    ("https://192.168.1.1/", "is a private address"),
    ("https://169.254.169.254/latest", "is a private address"),
    ("https://[fd00::1]/", "is a private address"),
    ("https://intranet/", "is a local network name"),
    ("https://hooks.internal/", "is a local network name"),
]


@pytest.mark.same_on_any_database
def test_an_invalid_url_is_rejected_and_kept(form: WebhookForm, subtests: pytest.Subtests) -> None:
    data = form.filled()
    for url, message in INVALID:
        with subtests.test(url=url):
            response = form.post(data | {"url": url})
            assert (response.status_code, form.changes) == (422, [])
            assert message in response_text(response)
            assert "\0" in url or fields(response.text)["url"] == url


@pytest.mark.same_on_any_database
def test_an_address_few_can_reach_brings_a_warning(
    form: WebhookForm, subtests: pytest.Subtests
) -> None:
    data = form.filled()
    for url, message in RARELY_REACHED:
        with subtests.test(url=url):
            response = form.post(data | {"url": url})
            assert message in response_text(response)
            assert sent_body(response.text) == {"url": url}
    form.submit(response)
    assert form.changes == [{"url": url}]


def test_a_public_address_brings_no_warning(form: WebhookForm) -> None:
    page = form.post(form.filled(url="https://8.8.8.8/in")).text
    warnings = page.split('id="url-warnings"')[1].split("</div>")[0]
    assert elements(warnings) == []


def test_an_existing_odd_address_blocks_nothing(form: WebhookForm) -> None:
    form.service.held = wire.subscription(url=" ftp://old.example/\n")
    form.save(events=[])
    assert form.changes == [{"events": []}]


# Events


def test_null_that_is_left_alone_is_not_sent(form: WebhookForm) -> None:
    form.service.held = wire.subscription(events=None)
    page = form.page()
    assert "which the API doesn’t document" in text(page)
    form.save(url=NEW)
    assert form.changes == [{"url": NEW}]


def test_choosing_nothing_is_not_leaving_null(form: WebhookForm) -> None:
    form.service.held = wire.subscription(events=None)
    response = form.post(form.filled(mode="pick"))
    assert "null can’t be restored" in text(response.text.split('id="sending"')[1])
    form.submit(response)
    assert form.changes == [{"events": []}]


def test_selecting_events_while_keeping_null_is_an_error(form: WebhookForm) -> None:
    form.service.held = wire.subscription(events=None)
    response = form.post(form.filled(events=["form.enriched"]))
    assert (response.status_code, form.changes) == (422, [])
    assert "Keep null is chosen. Choose one." in response_text(response)
    assert fields(response.text)["events"] == ["form.enriched"]


def test_an_event_that_is_known_nowhere_is_refused(form: WebhookForm) -> None:
    response = form.post(form.filled(events=["form.submitted", "page.exploded"]))
    assert (response.status_code, form.changes) == (422, [])
    assert "Unknown event: “page.exploded”." in response_text(response)


def test_an_event_that_the_spec_lacks_stays(form: WebhookForm) -> None:
    form.service.held = wire.subscription(events=["page.deleted", "form.submitted"])
    assert "Other events" in text(form.page())
    form.save(events=["form.enriched", "form.submitted", "page.deleted"])
    assert form.changes == [{"events": ["page.deleted", "form.submitted", "form.enriched"]}]


@pytest.mark.parametrize(
    ("step", "events"), [("all", [event.value for event in EventName]), ("none", [])]
)
def test_select_all_works_without_scripts(form: WebhookForm, step: str, events: list[str]) -> None:
    response = form.post(form.filled(url="not yet whole", step=step))
    data = fields(response.text)
    assert data.get("events", []) == events
    assert data["url"] == "not yet whole"
    assert form.changes == []


def test_reordered_or_repeated_events_change_nothing(form: WebhookForm) -> None:
    form.service.held = wire.subscription(
        events=["form.enriched", "form.submitted", "form.enriched"]
    )
    response = form.post(form.filled(events=["form.submitted", "form.enriched"]))
    assert "No changes to send." in response_text(response)


# Somebody else changed it


def test_a_concurrent_change_is_not_overwritten(form: WebhookForm) -> None:
    data = form.review(url=NEW)
    form.service.held = wire.subscription(url="https://theirs.example", events=["form.enriched"])
    response = form.post(data)
    assert (response.status_code, form.changes) == (409, [])
    page = response_text(response)
    assert all(u in page for u in ("https://hooks.example/in", "https://theirs.example", NEW))
    merged = fields(response.text)
    assert (merged["url"], merged["events"]) == (NEW, ["form.enriched"])
    form.post(merged)
    assert form.changes == [{"url": NEW}]
    assert form.service.held["events"] == ["form.enriched"]


def test_the_same_change_elsewhere_leaves_nothing_to_send(form: WebhookForm) -> None:
    data = form.review(url=NEW)
    form.service.held = wire.subscription(url=NEW)
    response = form.post(data)
    assert response.status_code == 409
    again = form.submit(response)
    assert "No changes to send." in response_text(again)
    assert form.changes == []


def test_a_switch_meanwhile_is_no_obstacle(form: WebhookForm) -> None:
    data = form.review(url=NEW)
    form.service.held = wire.subscription(active=False, updatedAt="2026-03-02T09:00:00Z")
    form.post(data)
    assert form.changes == [{"url": NEW}]


@pytest.mark.parametrize("seen", ["", "[]", "null", '{"url": 5, "events": null}', "{" * 2000])
def test_a_form_without_its_original_uses_last_known_values(form: WebhookForm, seen: str) -> None:
    response = form.post(form.filled(url=NEW) | {"seen": seen})
    assert sent_body(response.text) == {"url": NEW}


# What the service says


def test_the_service_s_field_errors_appear_at_the_field(form: WebhookForm) -> None:
    problems = [
        {"path": "url", "message": "must be reachable"},
        {"path": "events.1", "message": "is not for you"},
    ]
    form.service.way = answers(422, detail="No.", errors=problems)
    response = form.save(url=NEW, events=["form.submitted", "form.enriched"])
    assert response.status_code == 422
    assert "must be reachable" in text(response.text.split('id="id_url_error"')[1].split("</p>")[0])
    page_text = text(response.text.split('id="id_events_error"')[1].split("</p>")[0])
    assert "is not for you (form.enriched)" in page_text
    assert fields(response.text)["url"] == NEW
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.REJECTED
    assert reverse("operation-detail", args=[operation.operation_key]) in response.text


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (422, {"errors": [{"path": "tenant", "message": "is closed"}]}, "tenant: is closed"),
        (422, {"detail": "Not this one."}, "Not this one."),
        (404, {"detail": "It is gone."}, "It is gone."),
        (401, {}, "The service returned 401"),
        (409, {"message": "Busy."}, "Busy."),
    ],
)
def test_other_errors_appear_beside_the_button(
    form: WebhookForm, status: int, body: dict[str, Any], sentence: str
) -> None:
    form.service.way = answers(status, **body)
    response = form.save(url=NEW)
    assert response.status_code == 422
    assert sentence in text(response.text.split('id="sending"')[1])
    assert fields(response.text)["url"] == NEW
    form.service.way = WebhookService().way
    form.submit(response)
    assert form.service.held["url"] == NEW


@pytest.mark.parametrize(
    "way", [garbage, answers(500), answers(503, carried_out=True), cut(carried_out=True)]
)
def test_an_unknown_outcome_is_shown_with_its_operation(form: WebhookForm, way: Any) -> None:
    form.service.way = way
    response = form.save(url=NEW)
    assert response.status_code == 502
    assert "Outcome unknown: the change may have been saved." in response_text(response)
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.UNKNOWN
    assert reverse("operation-detail", args=[operation.operation_key]) in response.text
    assert fields(response.text)["url"] == NEW


def test_a_form_of_unknown_outcome_sent_twice_is_sent_once(form: WebhookForm) -> None:
    form.service.way = answers(500)
    data = form.review(url=NEW)
    first, again = form.post(data), form.post(data)
    assert len(form.changes) == 1
    assert again.status_code == 409
    assert "The service returned 500" in response_text(first)
    assert "Outcome unknown: the change may have been saved." in response_text(again)
    assert "This form was already sent; nothing was sent again." in response_text(again)
    assert fields(again.text)["url"] == NEW


def test_a_response_for_another_subscription_is_no_answer(form: WebhookForm) -> None:
    form.service.way = mistakes
    response = form.save(url=NEW)
    assert response.status_code == 502
    assert "the response is for another subscription, whs_2" in response_text(response)
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.UNKNOWN
    assert '"subscriptionId":"whs_2"' in operation.attempts.get().response_body
    record = SubscriptionRecord.objects.get()
    assert (record.subscription_id, record.url) == ("whs_1", "https://hooks.example/in")
    form.client.post(reverse("operation-check", args=[operation.operation_key]))
    assert Operation.objects.get().outcome == Outcome.ACCEPTED


def test_a_check_from_activity_settles_an_unknown_outcome(form: WebhookForm) -> None:
    form.service.way = cut(carried_out=True)
    form.save(url=NEW)
    key = Operation.objects.get().operation_key
    form.client.post(reverse("operation-check", args=[key]))
    assert Operation.objects.get().outcome == Outcome.ACCEPTED


def test_checking_from_activity_does_not_restore_the_row(form: WebhookForm) -> None:
    form.service.way = cut(carried_out=True)
    form.save(url=NEW)
    form.client.post(f"{PAGE}forget/")
    key = Operation.objects.get().operation_key
    form.client.post(reverse("operation-check", args=[key]))
    assert Operation.objects.get().outcome == Outcome.ACCEPTED
    assert SubscriptionRecord.objects.count() == 0


def test_where_it_cannot_be_read_first_nothing_is_sent(form: WebhookForm) -> None:
    data = form.review(url=NEW)
    form.service.reading = away
    response = form.post(data)
    assert (response.status_code, form.changes) == (503, [])
    assert "The subscription couldn’t be checked first." in response_text(response)
    assert Operation.objects.get().outcome == Outcome.NOT_SENT
    form.service.reading = shows
    form.submit(response)
    assert form.changes == [{"url": NEW}]


# The page


@pytest.mark.parametrize(
    "reading", [away, answers(200), answers(404, detail="Gone."), answers(500)]
)
def test_what_was_last_known_is_shown_and_marked(form: WebhookForm, reading: Any) -> None:
    form.service.reading = reading
    response = form.client.get(PAGE)
    assert response.status_code == 200
    assert "Showing the last known state." in response_text(response)
    assert "https://hooks.example/in" in response.text


def test_a_missing_object_differs_from_an_unreachable_service(form: WebhookForm) -> None:
    form.service.reading = answers(404, detail="Gone.")
    gone = text(form.page())
    assert "Not found in the service." in gone
    assert "unavailable until the service responds" not in gone
    form.service.reading = away
    assert "unavailable until the service responds" in text(form.page())


def test_the_page_shows_what_the_service_holds_now(form: WebhookForm) -> None:
    form.service.held = wire.subscription(url=NEW, extra={"kept": "as sent"}, createdAt="soon")
    page = text(form.page())
    assert form.service.reads == 1
    assert NEW in page
    assert "as sent" in page
    assert "Unreadable date" in page


def test_a_page_about_unreadable_data_still_opens(form: WebhookForm) -> None:
    SubscriptionRecord.objects.update(body="{}")
    form.service.reading = away
    response = form.client.get(PAGE)
    assert response.status_code == 200
    assert "The saved copy is unreadable" in response_text(response)


def test_two_people_with_two_forms_both_get_through(form: WebhookForm) -> None:
    first, second = form.review(url=NEW), form.review(events=[])
    form.post(first)
    response = form.post(second)
    assert response.status_code == 409
    form.post(fields(response.text) | {"operation_key": str(uuid4())})
    assert form.service.held["url"] == NEW
    assert form.service.held["events"] == []


WORDS_OF_LOSS = "You were signed out, so nothing was sent. Make the change again."


@pytest.mark.parametrize(
    "headers",
    [
        {"Referer": f"http://testserver{PAGE}"},
        {"HX-Request": "true", "HX-Current-URL": f"http://testserver{PAGE}"},
    ],
    ids=["by the button", "while typing"],
)
def test_a_change_after_sign_out_is_reported_as_lost(
    form: WebhookForm, headers: dict[str, str]
) -> None:
    data = form.filled(url=NEW)
    form.client.logout()
    response = form.post(data, headers=headers)
    login = response.headers.get("HX-Redirect") or response["Location"]
    back = form.client.post(login, {"username": "ada", "password": "ada"})
    assert response_text(form.client.get(back["Location"])).count(WORDS_OF_LOSS) == 1
    assert form.changes == []


def test_opening_a_page_signed_out_reports_no_lost_change(form: WebhookForm) -> None:
    form.client.logout()
    form.client.post(form.client.get(PAGE)["Location"], {"username": "ada", "password": "ada"})
    assert WORDS_OF_LOSS not in text(form.page())
