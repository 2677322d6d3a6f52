"""Search finds recorded objects by words, ignoring case and accents, best matches first."""

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


def test_a_name_starting_with_the_words_is_first() -> None:
    record_pages_named("A fleet", "B fleet", "C fleet", "D fleet", "Fleet one")
    assert find_names("fleet") == ["Fleet one", "A fleet", "B fleet"]


def test_so_it_is_where_few_hold_the_words() -> None:
    record_pages_named("A fleet", "Fleet one", "Something else")
    assert find_names("fleet") == ["Fleet one", "A fleet"]


def test_no_more_are_found_than_are_asked_for() -> None:
    record_pages_named("Fleet 1", "Fleet 2", "Fleet 3", "Fleet 4", "A fleet")
    assert find_names("fleet") == ["Fleet 1", "Fleet 2", "Fleet 3"]


def test_an_exact_name_is_first_and_all_are_counted() -> None:
    record_pages_named("Fleet A", "Fleet", "A fleet", "Fleet B", "Fleet C")
    assert find_names(" fleet ") == ["Fleet", "Fleet A", "Fleet B"]
    assert search_audiences("fleet", 3).total == 5


def test_an_archived_namesake_is_last() -> None:
    archived = wire.audience(audienceId="a", effectiveName="Fleet", archivedAt="2026-01-01")
    seed_audiences(archived, wire.audience(audienceId="b", effectiveName="Fleet"))
    assert [audience.audience_id for audience in search_audiences("fleet", 3).best] == ["b", "a"]


@pytest.mark.parametrize("words", ["kuhl", "KÜHL", "kühllogistik", "Ku\u0308hl", "hanseatic kuhl"])
def test_case_and_accents_make_no_difference(words: str) -> None:
    record_pages_named("Hanseatic Kühllogistik", "Something else")
    seed_pages(wire.page(pageId="a", name="Kühlketten"), wire.page(pageId="b", name="Others"))
    seed_subscription()
    SubscriptionRecord.objects.update(label="Hanseatic Kühllogistik")
    assert find_names(words) == ["Hanseatic Kühllogistik"]
    assert [subscription.label for subscription in search_subscriptions(words, 3).best] == [
        "Hanseatic Kühllogistik"
    ]
    assert [page.name for page in find_pages(words="kuhlK")] == ["Kühlketten"]


def test_rows_of_an_older_release_are_repaired() -> None:
    record_pages_named("Hanseatic Kühllogistik")
    AudienceRecord.objects.update(searched="")
    record_pages_named("Hanseatic Kühllogistik")
    assert find_names("kuhl") == ["Hanseatic Kühllogistik"]
