"""Editing a subscription: what was shown is what is sent, and nothing typed is ever lost."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from dashboard.contract.webhooks import EventName, WebhookSubscription
from dashboard.ledger.models import Operation, SubscriptionRecord
from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.recording import record_subscription
from tests.conftest import logged_in
from tests.support import wire
from tests.support.embedded_api_factories import make_subscription
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
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
PAGE = "/webhooks/whs_1/"


@pytest.fixture
def service(fake_service: FakeService) -> WebhookService:
    fake_service.answer = service = WebhookService()
    return service


@pytest.fixture
def editor(ada: User, service: WebhookService) -> Client:
    """Ada's browser, with the service's subscription on the list."""
    put_on_list(service)
    return logged_in(ada)


def put_on_list(service: WebhookService) -> None:
    record_subscription(WebhookSubscription.model_validate(service.held), label="CRM")


def fields(html: str) -> dict[str, Any]:
    """Return what a browser would submit on pressing the edit form's button."""
    form = html.split("data-edit>")[1].split("</form>", maxsplit=1)[0]
    data: dict[str, Any] = {}
    for element in elements(form, "input"):
        given = element.attributes
        is_box = given.get("type") in ("checkbox", "radio")
        if "name" not in given or (is_box and "checked" not in given):
            continue
        if given["name"] == "events":
            data.setdefault("events", []).append(given["value"])
        else:
            data[given["name"]] = given.get("value", "")
    return data


def typed(editor: Client, **differs: Any) -> dict[str, Any]:
    """Return the fetched form, with what was typed into it."""
    return fields(editor.get(PAGE).text) | differs


def review(editor: Client, **differs: Any) -> dict[str, Any]:
    """Type, press the button, and return the form with the body shown."""
    answer = editor.post(PAGE, typed(editor, **differs))
    assert "Not sent yet." in text(answer.text)
    return fields(answer.text)


def body_shown(html: str) -> Any:
    """Return the JSON that the page shows as the body to send."""
    sending = html.split('id="sending"')[1].split("</pre>", maxsplit=1)[0]
    return json.loads(text("<pre" + sending.split("<pre")[1]))


def save(editor: Client, **differs: Any) -> Any:
    """Type, review the body to send, and send it."""
    return editor.post(PAGE, review(editor, **differs), follow=True)


# What is sent


def test_save_is_primary_only_after_a_change(editor: Client) -> None:
    html = editor.get(PAGE).content.decode()
    assert classes_of_save(html) == ["button"]
    look = {"HX-Request": "true", "HX-Target": "sending"}
    typed = {"step": "preview", "url": NEW, "mode": "pick", "events": "form.submitted"}
    part = editor.post(PAGE, typed, headers=look).content.decode()
    assert classes_of_save(part) == ["button", "primary"]
    assert "Save changes" in text(part)


def classes_of_save(html: str) -> list[str]:
    (save,) = [e for e in elements(html, "button") if e.attributes.get("id") == "save"]
    return save.attributes["class"].split()


def test_the_body_at_the_service_is_exactly_the_one_shown(
    editor: Client, service: WebhookService
) -> None:
    events = ["form.submitted", "page.version.created"]
    answer = editor.post(PAGE, typed(editor, url=NEW, events=events))
    assert service.changes == []
    shown = body_shown(answer.text)
    done = editor.post(PAGE, fields(answer.text), follow=True)
    assert service.changes == [shown] == [{"url": NEW, "events": events}]
    assert "URL and events updated." in text(done.text)


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
    editor: Client, service: WebhookService, differs: dict[str, Any], body: dict[str, Any]
) -> None:
    save(editor, **differs)
    assert service.changes == [body]


def test_without_changes_nothing_is_sent_and_a_note_is_shown(
    editor: Client, service: WebhookService
) -> None:
    answer = editor.post(PAGE, typed(editor))
    assert "No changes to send." in text(answer.text)
    assert service.changes == []
    assert Operation.objects.count() == 0


def test_a_body_that_differs_from_the_one_shown_is_shown_first(
    editor: Client, service: WebhookService
) -> None:
    shown = review(editor, url=NEW)
    answer = editor.post(PAGE, shown | {"url": "https://another.example"})
    assert service.changes == []
    assert body_shown(answer.text) == {"url": "https://another.example"}


def test_the_live_part_shows_the_body_and_what_to_think_of(
    editor: Client, service: WebhookService
) -> None:
    data = typed(editor, url="http://10.0.0.5/in", step="preview")
    service.reads = 0
    headers = {"HX-Request": "true", "HX-Target": "sending"}
    part = editor.post(PAGE, data, headers=headers).text
    assert "<html" not in part
    shown = next(e.attributes for e in elements(part, "input") if e.attributes["name"] == "shown")
    assert json.loads(shown["value"]) == {"url": "http://10.0.0.5/in"}
    assert "10.0.0.5 is a private address" in text(part)
    assert "http isn’t encrypted" in text(part)
    assert (service.reads, service.changes) == (0, [])


def test_the_preview_shows_why_nothing_can_be_sent_yet(editor: Client) -> None:
    data = typed(editor, url="htps://hooks.example", step="preview")
    headers = {"HX-Request": "true", "HX-Target": "sending"}
    part = editor.post(PAGE, data, headers=headers)
    assert part.status_code == 200
    assert "It starts with htps://. Did you mean https://?" in text(part.text)


def test_a_change_is_on_record_with_the_values_before(editor: Client) -> None:
    save(editor, url=NEW)
    operation = Operation.objects.get()
    assert (operation.outcome, operation.body_sent) == (Outcome.ACCEPTED, {"url": NEW})
    assert (operation.subscription_id, operation.target_name) == ("whs_1", "CRM")
    assert operation.before["url"] == "https://hooks.example/in"
    record = text(editor.get(reverse("operation-detail", args=[operation.operation_key])).text)
    assert "https://hooks.example/in" in record.split("Requested changes")[1]
    assert NEW in record.split("Requested changes")[1]


def test_saving_reads_once_and_writes_once(editor: Client, service: WebhookService) -> None:
    data = review(editor, url=NEW)
    service.reads = 0
    editor.post(PAGE, data)
    assert (service.reads, len(service.changes)) == (1, 1)


def test_a_form_sent_twice_is_sent_once(editor: Client, service: WebhookService) -> None:
    data = review(editor, url=NEW)
    editor.post(PAGE, data)
    again = editor.post(PAGE, data, follow=True)
    assert len(service.changes) == 1
    assert "This form was already sent. Nothing was sent again." in text(again.text)


@pytest.mark.parametrize("key", ["", "none of ours", "00000000"])
def test_a_form_without_a_key_sends_nothing_and_gets_one(
    editor: Client, service: WebhookService, key: str
) -> None:
    answer = editor.post(PAGE, review(editor, url=NEW) | {"operation_key": key})
    assert (answer.status_code, service.changes) == (422, [])
    editor.post(PAGE, fields(answer.text))
    assert service.changes == [{"url": NEW}]


def test_the_key_of_another_operation_sends_nothing(
    editor: Client, service: WebhookService
) -> None:
    data = review(editor, url=NEW)
    key = data["operation_key"]
    editor.post(PAGE, data)
    again = review(editor, url="https://third.example")
    answer = editor.post(PAGE, again | {"operation_key": key})
    assert answer.status_code == 409
    assert len(service.changes) == 1
    assert "operation key was already used for another request" in text(answer.text)
    editor.post(PAGE, fields(answer.text))
    assert service.held["url"] == "https://third.example"


def test_a_response_with_different_values_is_reported(
    editor: Client, service: WebhookService
) -> None:
    service.way = ignores
    answer = save(editor, url=NEW)
    assert "The service accepted the update but returned different values: url." in text(
        answer.text
    )


def test_the_embedded_service_is_changed(as_administrator: Client) -> None:
    there = make_subscription(events=None)
    as_administrator.post("/webhooks/new/", {"subscription_id": there.id})
    page = reverse("subscription-detail", args=[there.id])
    data = fields(as_administrator.get(page).text) | {"mode": "pick", "events": ["form.enriched"]}
    shown = fields(as_administrator.post(page, data).text)
    as_administrator.post(page, shown)
    there.refresh_from_db()
    assert there.events == ["form.enriched"]
    data = fields(as_administrator.get(page).text) | {"url": "https://xn--/"}
    refused = as_administrator.post(page, fields(as_administrator.post(page, data).text))
    assert "The host of the URL isn’t a valid name" in text(refused.text)


def test_label_url_and_events_are_saved_by_one_button(
    editor: Client, service: WebhookService
) -> None:
    page = editor.get(PAGE).text
    buttons = [each.attributes for each in elements(page.split("<main")[1], "button")]
    visible = [each for each in buttons if "hidden" not in each.get("class", "")]
    assert [each.get("id") for each in visible if each.get("type") == "submit"].count("save") == 1
    assert "Save label" not in text(page)
    shown = review(editor, label="Sales", url=NEW, events=[])
    assert shown["label"] == "Sales"
    assert SubscriptionRecord.objects.get().label == "CRM"
    done = editor.post(PAGE, shown, follow=True)
    assert "Label, URL and events updated." in text(done.text)
    assert SubscriptionRecord.objects.get().label == "Sales"
    assert service.changes == [{"url": NEW, "events": []}]


def test_a_label_changed_by_somebody_else_is_not_overwritten(
    editor: Client, service: WebhookService
) -> None:
    data = review(editor, url=NEW)
    SubscriptionRecord.objects.update(label="Theirs")
    editor.post(PAGE, data)
    assert (SubscriptionRecord.objects.get().label, service.changes) == ("Theirs", [{"url": NEW}])


def test_a_typed_label_survives_a_conflict_and_a_refusal(
    editor: Client, service: WebhookService
) -> None:
    data = review(editor, label="Sales", url=NEW)
    service.held = wire.subscription(events=["form.enriched"])
    conflict = fields(editor.post(PAGE, data).text)
    service.way = answers(422, detail="No.", errors=[])
    refused = editor.post(PAGE, conflict)
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
def test_an_invalid_url_is_rejected_and_stays_in_the_form(
    editor: Client, service: WebhookService, subtests: pytest.Subtests
) -> None:
    form = typed(editor)
    for url, said in INVALID:
        with subtests.test(url=url):
            answer = editor.post(PAGE, form | {"url": url})
            assert (answer.status_code, service.changes) == (422, [])
            assert said in text(answer.text)
            assert "\0" in url or fields(answer.text)["url"] == url


@pytest.mark.same_on_any_database
def test_an_address_that_few_can_reach_brings_a_warning_and_can_be_sent(
    editor: Client, service: WebhookService, subtests: pytest.Subtests
) -> None:
    form = typed(editor)
    for url, said in RARELY_REACHED:
        with subtests.test(url=url):
            answer = editor.post(PAGE, form | {"url": url})
            assert said in text(answer.text)
            assert body_shown(answer.text) == {"url": url}
    editor.post(PAGE, fields(answer.text))
    assert service.changes == [{"url": url}]


def test_a_public_address_brings_no_warning(editor: Client) -> None:
    page = editor.post(PAGE, typed(editor, url="https://8.8.8.8/in")).text
    warnings = page.split('id="url-warnings"')[1].split("</div>")[0]
    assert elements(warnings) == []


def test_an_odd_address_that_was_there_before_does_not_stand_in_the_way(
    editor: Client, service: WebhookService
) -> None:
    service.held = wire.subscription(url=" ftp://old.example/\n")
    save(editor, events=[])
    assert service.changes == [{"events": []}]


# Events


def test_null_that_is_left_alone_is_not_sent(editor: Client, service: WebhookService) -> None:
    service.held = wire.subscription(events=None)
    page = editor.get(PAGE).text
    assert "which the API doesn’t document" in text(page)
    save(editor, url=NEW)
    assert service.changes == [{"url": NEW}]


def test_choosing_nothing_is_not_leaving_null(editor: Client, service: WebhookService) -> None:
    service.held = wire.subscription(events=None)
    answer = editor.post(PAGE, typed(editor, mode="pick"))
    assert "null can’t be restored" in text(answer.text.split('id="sending"')[1])
    editor.post(PAGE, fields(answer.text))
    assert service.changes == [{"events": []}]


def test_selecting_events_while_keeping_null_is_an_error(
    editor: Client, service: WebhookService
) -> None:
    service.held = wire.subscription(events=None)
    answer = editor.post(PAGE, typed(editor, events=["form.enriched"]))
    assert (answer.status_code, service.changes) == (422, [])
    assert "Keep null is chosen. Choose one." in text(answer.text)
    assert fields(answer.text)["events"] == ["form.enriched"]


def test_an_event_that_is_known_nowhere_is_refused(editor: Client, service: WebhookService) -> None:
    answer = editor.post(PAGE, typed(editor, events=["form.submitted", "page.exploded"]))
    assert (answer.status_code, service.changes) == (422, [])
    assert "Unknown event: “page.exploded”." in text(answer.text)


def test_an_event_that_the_spec_lacks_stays(editor: Client, service: WebhookService) -> None:
    service.held = wire.subscription(events=["page.deleted", "form.submitted"])
    assert "Other events" in text(editor.get(PAGE).text)
    save(editor, events=["form.enriched", "form.submitted", "page.deleted"])
    assert service.changes == [{"events": ["page.deleted", "form.submitted", "form.enriched"]}]


@pytest.mark.parametrize(
    ("step", "events"), [("all", [event.value for event in EventName]), ("none", [])]
)
def test_all_and_none_are_ticked_without_scripts_and_nothing_is_sent(
    editor: Client, service: WebhookService, step: str, events: list[str]
) -> None:
    answer = editor.post(PAGE, typed(editor, url="not yet whole", step=step))
    data = fields(answer.text)
    assert data.get("events", []) == events
    assert data["url"] == "not yet whole"
    assert service.changes == []


def test_the_same_events_in_another_order_or_twice_are_no_change(
    editor: Client, service: WebhookService
) -> None:
    service.held = wire.subscription(events=["form.enriched", "form.submitted", "form.enriched"])
    answer = editor.post(PAGE, typed(editor, events=["form.submitted", "form.enriched"]))
    assert "No changes to send." in text(answer.text)


# Somebody else changed it


def test_a_change_by_somebody_else_is_shown_beside_and_not_overwritten(
    editor: Client, service: WebhookService
) -> None:
    data = review(editor, url=NEW)
    service.held = wire.subscription(url="https://theirs.example", events=["form.enriched"])
    answer = editor.post(PAGE, data)
    assert (answer.status_code, service.changes) == (409, [])
    page = text(answer.text)
    assert all(u in page for u in ("https://hooks.example/in", "https://theirs.example", NEW))
    form = fields(answer.text)
    assert (form["url"], form["events"]) == (NEW, ["form.enriched"])
    editor.post(PAGE, form)
    assert service.changes == [{"url": NEW}]
    assert service.held["events"] == ["form.enriched"]


def test_the_same_change_by_somebody_else_leaves_nothing_to_send(
    editor: Client, service: WebhookService
) -> None:
    data = review(editor, url=NEW)
    service.held = wire.subscription(url=NEW)
    answer = editor.post(PAGE, data)
    assert answer.status_code == 409
    again = editor.post(PAGE, fields(answer.text))
    assert "No changes to send." in text(again.text)
    assert service.changes == []


def test_a_switch_meanwhile_is_no_obstacle(editor: Client, service: WebhookService) -> None:
    data = review(editor, url=NEW)
    service.held = wire.subscription(active=False, updatedAt="2026-03-02T09:00:00Z")
    editor.post(PAGE, data)
    assert service.changes == [{"url": NEW}]


@pytest.mark.parametrize("seen", ["", "[]", "null", '{"url": 5, "events": null}', "{" * 2000])
def test_a_form_without_its_original_is_compared_with_the_last_known_values(
    editor: Client, service: WebhookService, seen: str
) -> None:
    answer = editor.post(PAGE, typed(editor, url=NEW) | {"seen": seen})
    assert body_shown(answer.text) == {"url": NEW}


# What the service says


def test_the_services_words_about_a_field_stand_at_that_field(
    editor: Client, service: WebhookService
) -> None:
    problems = [
        {"path": "url", "message": "must be reachable"},
        {"path": "events.1", "message": "is not for you"},
    ]
    service.way = answers(422, detail="No.", errors=problems)
    answer = save(editor, url=NEW, events=["form.submitted", "form.enriched"])
    assert answer.status_code == 422
    assert "must be reachable" in text(answer.text.split('id="id_url_error"')[1].split("</p>")[0])
    said = text(answer.text.split('id="id_events_error"')[1].split("</p>")[0])
    assert "is not for you (form.enriched)" in said
    assert fields(answer.text)["url"] == NEW
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.REJECTED
    assert reverse("operation-detail", args=[operation.operation_key]) in answer.text


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (422, {"errors": [{"path": "tenant", "message": "is closed"}]}, "tenant: is closed"),
        (422, {"detail": "Not this one."}, "Not this one."),
        (404, {"detail": "It is gone."}, "It is gone."),
        (401, {}, "The service returned 401"),
        (409, {"message": "Busy."}, "Busy."),
    ],
)
def test_other_errors_appear_beside_the_button_and_the_input_stays(
    editor: Client, service: WebhookService, status: int, body: dict[str, Any], said: str
) -> None:
    service.way = answers(status, **body)
    answer = save(editor, url=NEW)
    assert answer.status_code == 422
    assert said in text(answer.text.split('id="sending"')[1])
    assert fields(answer.text)["url"] == NEW
    service.way = WebhookService().way
    editor.post(PAGE, fields(answer.text))
    assert service.held["url"] == NEW


@pytest.mark.parametrize(
    "way", [garbage, answers(500), answers(503, carried_out=True), cut(carried_out=True)]
)
def test_an_unknown_outcome_is_shown_with_its_operation(
    editor: Client, service: WebhookService, way: Any
) -> None:
    service.way = way
    answer = save(editor, url=NEW)
    assert answer.status_code == 502
    assert "Outcome unknown: the change may have been saved." in text(answer.text)
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.UNKNOWN
    assert reverse("operation-detail", args=[operation.operation_key]) in answer.text
    assert fields(answer.text)["url"] == NEW


def test_an_answer_for_another_subscription_is_no_answer(
    editor: Client, service: WebhookService
) -> None:
    service.way = mistakes
    answer = save(editor, url=NEW)
    assert answer.status_code == 502
    assert "the response is for another subscription, whs_2" in text(answer.text)
    operation = Operation.objects.get()
    assert operation.outcome == Outcome.UNKNOWN
    assert '"subscriptionId":"whs_2"' in operation.attempts.get().response_body
    record = SubscriptionRecord.objects.get()
    assert (record.subscription_id, record.url) == ("whs_1", "https://hooks.example/in")
    editor.post(reverse("operation-check", args=[operation.operation_key]))
    assert Operation.objects.get().outcome == Outcome.ACCEPTED


def test_a_check_from_activity_settles_an_unknown_outcome(
    editor: Client, service: WebhookService
) -> None:
    service.way = cut(carried_out=True)
    save(editor, url=NEW)
    key = Operation.objects.get().operation_key
    editor.post(reverse("operation-check", args=[key]))
    assert Operation.objects.get().outcome == Outcome.ACCEPTED


def test_a_check_from_activity_puts_nothing_back_on_the_list(
    editor: Client, service: WebhookService
) -> None:
    service.way = cut(carried_out=True)
    save(editor, url=NEW)
    editor.post(f"{PAGE}forget/")
    key = Operation.objects.get().operation_key
    editor.post(reverse("operation-check", args=[key]))
    assert Operation.objects.get().outcome == Outcome.ACCEPTED
    assert SubscriptionRecord.objects.count() == 0


def test_where_it_cannot_be_read_first_nothing_is_sent(
    editor: Client, service: WebhookService
) -> None:
    data = review(editor, url=NEW)
    service.reading = away
    answer = editor.post(PAGE, data)
    assert (answer.status_code, service.changes) == (503, [])
    assert "The subscription couldn't be checked first." in text(answer.text)
    assert Operation.objects.get().outcome == Outcome.NOT_SENT
    service.reading = shows
    editor.post(PAGE, fields(answer.text))
    assert service.changes == [{"url": NEW}]


# The page


@pytest.mark.parametrize(
    "reading", [away, answers(200), answers(404, detail="Gone."), answers(500)]
)
def test_what_was_last_known_is_shown_and_marked(
    editor: Client, service: WebhookService, reading: Any
) -> None:
    service.reading = reading
    answer = editor.get(PAGE)
    assert answer.status_code == 200
    assert "Showing the last known state." in text(answer.text)
    assert "https://hooks.example/in" in answer.text


def test_a_missing_object_differs_from_an_unreachable_service(
    editor: Client, service: WebhookService
) -> None:
    service.reading = answers(404, detail="Gone.")
    gone = text(editor.get(PAGE).text)
    assert "Not found in the service." in gone
    assert "unavailable until the service responds" not in gone
    service.reading = away
    assert "unavailable until the service responds" in text(editor.get(PAGE).text)


def test_the_page_shows_what_the_service_holds_now(editor: Client, service: WebhookService) -> None:
    service.held = wire.subscription(url=NEW, extra={"kept": "as sent"}, createdAt="soon")
    page = text(editor.get(PAGE).text)
    assert service.reads == 1
    assert NEW in page
    assert "as sent" in page
    assert "Unreadable date" in page


def test_a_page_of_what_cannot_be_read_any_more_still_opens(
    editor: Client, service: WebhookService
) -> None:
    SubscriptionRecord.objects.update(body="{}")
    service.reading = away
    answer = editor.get(PAGE)
    assert answer.status_code == 200
    assert "The saved copy is unreadable" in text(answer.text)


def test_two_people_with_two_forms_both_get_through(
    editor: Client, service: WebhookService
) -> None:
    first, second = review(editor, url=NEW), review(editor, events=[])
    editor.post(PAGE, first)
    answer = editor.post(PAGE, second)
    assert answer.status_code == 409
    editor.post(PAGE, fields(answer.text) | {"operation_key": str(uuid4())})
    assert service.held["url"] == NEW
    assert service.held["events"] == []


WORDS_OF_LOSS = "You were signed out, so nothing was sent. Make the change again."


@pytest.mark.parametrize(
    "asked_on",
    [
        {"Referer": f"http://testserver{PAGE}"},
        {"HX-Request": "true", "HX-Current-URL": f"http://testserver{PAGE}"},
    ],
    ids=["by the button", "while typing"],
)
def test_a_change_after_the_session_ended_is_reported_as_lost_at_sign_in(
    editor: Client, service: WebhookService, asked_on: dict[str, str]
) -> None:
    form = typed(editor, url=NEW)
    editor.logout()
    answer = editor.post(PAGE, form, headers=asked_on)
    login = answer.headers.get("HX-Redirect") or answer["Location"]
    back = editor.post(login, {"username": "ada", "password": "ada"})
    assert text(editor.get(back["Location"]).text).count(WORDS_OF_LOSS) == 1
    assert service.changes == []


def test_a_page_opened_after_the_session_ended_reports_no_lost_change(
    editor: Client,
) -> None:
    editor.logout()
    editor.post(editor.get(PAGE)["Location"], {"username": "ada", "password": "ada"})
    assert WORDS_OF_LOSS not in text(editor.get(PAGE).text)
