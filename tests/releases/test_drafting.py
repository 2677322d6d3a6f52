"""Releases are created and changed as drafts; bad input gets a message and changes nothing."""

import pytest
from django.contrib.auth.models import User

from dashboard.operations.checking import PublishTarget
from dashboard.releases import decisions, drafting
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_draft, create_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import Release, ReleaseItem
from dashboard.releases.planning import planned_versions
from dashboard.releases.reviewing import board_digest
from tests.releases.conftest import Draft
from tests.support.many_audiences import ManyAudiences


def test_a_release_has_latest_versions_in_given_order(service: ManyAudiences, paula: User) -> None:
    first, second, third = service.add(3)
    release = create_release(name="", note="", audiences=[third, first, second], user=paula)
    rows = release.items.values_list("position", "audience_id", "version_number")
    assert list(rows) == [(1, "aud_3", 2), (2, "aud_1", 2), (3, "aud_2", 2)]
    assert {item.live_version_id for item in release.items.all()} == {
        *("ver_aud_1_1", "ver_aud_2_1", "ver_aud_3_1")
    }


def test_a_new_release_is_due_for_its_first_check(draft: Draft, paula: User) -> None:
    key = ("page_1", "aud_1")
    draft(1)
    release = create_release(name="", note="", audiences=[key], user=paula)
    assert release.needs_check
    assert release.wake_at is not None


@pytest.mark.parametrize(
    ("count", "name", "later"),
    [(1, "Version 2, Name of aud_1", "2 versions"), (3, "3 versions", "4 versions")],
)
def test_an_unnamed_release_is_named_after_its_versions(
    service: ManyAudiences, paula: User, count: int, name: str, later: str
) -> None:
    release = create_release(name=" ", note="", audiences=service.add(count), user=paula)
    assert release.name == name
    drafting.add_audiences(release, service.add(1), paula)
    assert Release.objects.get().name == later
    drafting.set_name_and_note(release, "November", "")
    drafting.remove_item(release.items.all()[0])
    assert Release.objects.get().name == "November"
    drafting.set_name_and_note(release, "", "")
    drafting.remove_item(release.items.all()[0])
    assert Release.objects.get().name == (name if count > 2 else "No versions").replace("3", "2")


@pytest.mark.parametrize(
    ("texts", "field", "sentence"),
    [
        ({"name": "x" * 201}, "name", "The name has 201 characters. The maximum is 200."),
        ({"note": "x" * 2001}, "note", "The note has 2,001 characters. The maximum is 2,000."),
        ({"name": "a\0b"}, "name", "The name has a character that can’t be stored."),
    ],
)
def test_a_bad_name_or_note_makes_no_release(
    service: ManyAudiences, paula: User, texts: dict[str, str], field: str, sentence: str
) -> None:
    with pytest.raises(ReleaseError) as error:
        create_release(audiences=service.add(1), user=paula, **{"name": "", "note": ""} | texts)
    assert (str(error.value), error.value.field) == (sentence, field)
    assert not Release.objects.exists()


def test_an_empty_selection_makes_no_release(db: None, paula: User) -> None:
    with pytest.raises(ReleaseError, match="Select at least one audience") as error:
        create_release(name="", note="", audiences=[], user=paula)
    assert error.value.field == "audience"


def test_an_audience_selected_twice_is_named(service: ManyAudiences, paula: User) -> None:
    first, two = service.add(2)
    with pytest.raises(ReleaseError) as error:
        create_release(name="", note="", audiences=[first, two, first], user=paula)
    (problem,) = error.value.problems
    assert (problem.audience_id, problem.sentence) == ("aud_1", "This audience is selected twice.")
    assert str(error.value) == "Name of aud_1: This audience is selected twice."


def test_each_audience_that_has_nothing_to_publish_is_named(
    service: ManyAudiences, paula: User
) -> None:
    (good,) = service.add(1)
    (without,) = service.add(1, latestVersion=None, publishedVersion=None)
    key = ("page_1", "aud_3")
    (live,) = service.add(1, latestVersion=service.live(key, 4))
    service.change(live, publishedVersion=service.live(key, 4))
    service.record()
    unknown = ("page_9", "aud_\0")
    with pytest.raises(ReleaseError) as error:
        create_release(name="", note="", audiences=[good, without, live, unknown], user=paula)
    assert [(problem.audience_id, problem.sentence) for problem in error.value.problems] == [
        ("aud_2", "Nothing to publish: it has no version."),
        ("aud_3", "Nothing to publish: version 4 is already live."),
        ("aud_\0", "This audience isn’t recorded here."),
    ]
    assert str(error.value).endswith("2 more can’t be added.")


def test_an_earlier_version_can_be_released(service: ManyAudiences, paula: User) -> None:
    (key,) = service.add(1)
    service.change(key, publishedVersion=service.live(key, 2), latestVersion=None)
    service.record()
    target = PublishTarget(*key, "ver_aud_1_1")
    release = create_draft(name="", note="", planned=planned_versions([target]), user=paula)
    item = release.items.get()
    assert (item.version_number, item.live_version_number) == (1, 2)


@pytest.mark.parametrize(
    ("version_id", "sentence"),
    [
        ("ver_aud_2_2", "This version belongs to another audience."),
        ("ver_none", "This version isn’t recorded here."),
        ("ver_\0", "This version isn’t recorded here."),
        ("ver_aud_1_1", "Nothing to publish: version 1 is already live."),
    ],
)
def test_an_unpublishable_version_is_refused(
    service: ManyAudiences, paula: User, version_id: str, sentence: str
) -> None:
    key, _ = service.add(2)
    targets = [PublishTarget(*key, version_id)]
    with pytest.raises(ReleaseError) as error:
        create_draft(name="", note="", planned=planned_versions(targets), user=paula)
    assert (str(error.value), error.value.field) == (sentence, "version")


def test_audiences_are_added_at_the_end(draft: Draft, service: ManyAudiences, paula: User) -> None:
    release = draft(2)
    more = service.add(2)
    drafting.add_audiences(release, more, paula)
    rows = release.items.values_list("position", "audience_id")
    assert list(rows) == [(1, "aud_1"), (2, "aud_2"), (3, "aud_3"), (4, "aud_4")]
    assert release.needs_check


def test_an_audience_in_the_release_is_not_added_again(draft: Draft, paula: User) -> None:
    release = draft(2)
    with pytest.raises(ReleaseError, match="Name of aud_2: This audience is already in"):
        drafting.add_audiences(release, [("page_1", "aud_2")], paula)
    assert release.items.count() == 2


@pytest.mark.parametrize(
    ("by", "order"), [(-9, "312"), (-2, "312"), (-1, "132"), (0, "123"), (99, "123")]
)
def test_an_item_moves_by_some_places(draft: Draft, by: int, order: str) -> None:
    release = draft(3)
    drafting.move_item(release.items.get(audience_id="aud_3"), by)
    ids = release.items.values_list("audience_id", flat=True)
    assert "".join(item[-1] for item in ids) == order


def test_removing_an_item_closes_the_gap(draft: Draft) -> None:
    release = draft(3)
    drafting.remove_item(release.items.get(audience_id="aud_1"))
    rows = release.items.values_list("position", "audience_id")
    assert list(rows) == [(1, "aud_2"), (2, "aud_3")]


def test_an_item_removed_by_someone_else_is_not_changed(draft: Draft, paula: User) -> None:
    release = draft(2)
    item = release.items.get(audience_id="aud_1")
    drafting.remove_item(release.items.get(audience_id="aud_1"))
    for edit in (
        lambda: drafting.move_item(item, 1),
        lambda: drafting.choose_version(item, "ver_aud_1_2"),
        lambda: drafting.mark_reviewed(item, paula, reviewed=True),
    ):
        with pytest.raises(ReleaseError, match="no longer in the release"):
            edit()
    assert release.items.count() == 1


def test_choosing_a_version_keeps_another_tab_s_order(draft: Draft) -> None:
    release = draft(2)
    item = release.items.get(audience_id="aud_1")
    drafting.choose_version(item, "ver_aud_1_2")
    stale = ReleaseItem.objects.get(pk=item.pk)
    drafting.move_item(item, 1)
    drafting.choose_version(stale, "ver_aud_1_2")
    rows = release.items.values_list("position", "audience_id")
    assert list(rows) == [(1, "aud_2"), (2, "aud_1")]


def test_another_version_has_to_be_checked_and_reviewed(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    release = draft(1)
    key = ("page_1", "aud_1")
    item = release.items.get()
    drafting.mark_reviewed(item, paula, reviewed=True, displayed_digest=item.digest)
    service.change(key, latestVersion=service.version(key, 3))
    service.record()
    drafting.choose_version(item, "ver_aud_1_3")
    item.refresh_from_db()
    assert (item.version_number, item.digest, item.reviewed_at) == (3, "", None)
    release.refresh_from_db()
    assert release.needs_check


def test_an_item_is_reviewed_as_it_was_shown(draft: Draft, paula: User) -> None:
    item = draft(1).items.get()
    with pytest.raises(ReleaseError, match="changed since you opened the page"):
        drafting.mark_reviewed(item, paula, reviewed=True, displayed_digest="another digest")
    drafting.mark_reviewed(item, paula, reviewed=True, displayed_digest=item.digest)
    assert item.reviewed_by_name == "paula"
    drafting.mark_reviewed(item, paula, reviewed=False)
    assert item.reviewed_at is None


def test_nothing_is_reviewed_before_the_first_check(service: ManyAudiences, paula: User) -> None:
    release = create_release(name="", note="", audiences=service.add(1), user=paula)
    with pytest.raises(ReleaseError, match="hasn’t been checked yet"):
        drafting.mark_reviewed(release.items.get(), paula, reviewed=True)


def test_a_release_that_runs_can_no_longer_be_edited(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    release = draft(2)
    decisions.publish(release, paula, "", board_digest(release))
    item = release.items.first()
    assert item is not None
    stale = Release.objects.get(pk=release.pk)
    for edit in (
        lambda: drafting.add_audiences(stale, service.add(1), paula),
        lambda: drafting.remove_item(item),
        lambda: drafting.move_item(item, 1),
        lambda: drafting.set_name_and_note(stale, "Name", ""),
        lambda: drafting.choose_version(item, "ver_aud_1_1"),
        lambda: drafting.mark_reviewed(item, paula, reviewed=True),
    ):
        with pytest.raises(ReleaseError):
            edit()
    assert release.items.count() == 2


def test_name_and_note_are_changed(draft: Draft) -> None:
    release = draft(1)
    drafting.set_name_and_note(release, " November  prices ", "Agreed with finance.\n")
    release.refresh_from_db()
    assert (release.name, release.note) == ("November prices", "Agreed with finance.")
    drafting.set_name_and_note(release, " ", "")
    assert Release.objects.get().name == "Version 2, Name of aud_1"


def test_what_was_added_during_a_check_is_checked_next(
    draft: Draft, service: ManyAudiences, paula: User
) -> None:
    release = draft(1)
    (added,) = service.add(1)
    edits = [lambda: drafting.add_audiences(Release.objects.get(), [added], paula)]
    service.before = lambda: edits.pop()() if edits else None
    check_release(release)
    release.refresh_from_db()
    assert release.needs_check
    assert [bool(item.digest) for item in release.items.all()] == [True, False]
