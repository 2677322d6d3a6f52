"""What is seen here is found by words, whatever their case and accents, the best first."""

import pytest

from dashboard.ledger.models import AudienceRecord, SubscriptionRecord
from dashboard.ledger.queries.find import search_audiences, search_subscriptions
from dashboard.ledger.queries.pages import find_pages
from tests.support import wire
from tests.support.seeding import seed_audiences, seed_pages, seed_subscription

pytestmark = pytest.mark.django_db


def record_pages_named(*names: str) -> None:
    seed_audiences(
        *(wire.audience(audienceId=f"aud_{n}", effectiveName=name) for n, name in enumerate(names))
    )


def find_names(words: str) -> list[str]:
    return [record.name for record in search_audiences(words, 3).best]


def test_a_name_that_begins_with_the_words_is_found_before_all_others() -> None:
    record_pages_named("A fleet", "B fleet", "C fleet", "D fleet", "Fleet one")
    assert find_names("fleet") == ["Fleet one", "A fleet", "B fleet"]


def test_so_it_is_where_few_hold_the_words() -> None:
    record_pages_named("A fleet", "Fleet one", "Something else")
    assert find_names("fleet") == ["Fleet one", "A fleet"]


def test_no_more_are_found_than_are_asked_for() -> None:
    record_pages_named("Fleet 1", "Fleet 2", "Fleet 3", "Fleet 4", "A fleet")
    assert find_names("fleet") == ["Fleet 1", "Fleet 2", "Fleet 3"]


def test_a_name_of_exactly_these_words_is_found_first_and_all_are_counted() -> None:
    record_pages_named("Fleet A", "Fleet", "A fleet", "Fleet B", "Fleet C")
    assert find_names(" fleet ") == ["Fleet", "Fleet A", "Fleet B"]
    assert search_audiences("fleet", 3).total == 5


def test_of_two_of_one_name_the_archived_one_comes_last() -> None:
    archived = wire.audience(audienceId="a", effectiveName="Fleet", archivedAt="2026-01-01")
    seed_audiences(archived, wire.audience(audienceId="b", effectiveName="Fleet"))
    assert [each.audience_id for each in search_audiences("fleet", 3).best] == ["b", "a"]


@pytest.mark.parametrize("words", ["kuhl", "KÜHL", "kühllogistik", "Ku\u0308hl", "hanseatic kuhl"])
def test_case_and_accents_make_no_difference(words: str) -> None:
    record_pages_named("Hanseatic Kühllogistik", "Something else")
    seed_pages(wire.page(pageId="a", name="Kühlketten"), wire.page(pageId="b", name="Others"))
    seed_subscription()
    SubscriptionRecord.objects.update(label="Hanseatic Kühllogistik")
    assert find_names(words) == ["Hanseatic Kühllogistik"]
    assert [each.label for each in search_subscriptions(words, 3).best] == [
        "Hanseatic Kühllogistik"
    ]
    assert [each.name for each in find_pages(words="kuhlK")] == ["Kühlketten"]


def test_what_an_older_version_writes_down_meanwhile_is_mended_at_the_next_look() -> None:
    record_pages_named("Hanseatic Kühllogistik")
    AudienceRecord.objects.update(searched="")
    record_pages_named("Hanseatic Kühllogistik")
    assert find_names("kuhl") == ["Hanseatic Kühllogistik"]
