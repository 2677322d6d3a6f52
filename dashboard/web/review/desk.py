"""An item of a review as its page shows it: its texts, findings, reasons and pending changes."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import cached_property

from dashboard.client import APIError
from dashboard.contract.audiences import AudienceVersion, text_of
from dashboard.ledger.queries.audiences import audience_last_known
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish_review import PublishReview, review_publish
from dashboard.review.decisions import DecisionBasis, read_basis, version_digest
from dashboard.review.runs import QueueItem
from dashboard.review.verdicts import JudgedChange
from dashboard.text_diff import TextDifference, compare_texts
from dashboard.web.conversations.thread import ConversationThread, build_thread
from dashboard.web.conversations.verdicts import verdicts_in

SHOWS = ("changes", "version", "live")


@dataclass(frozen=True)
class Desk:
    """An item of a review as just read from the service."""

    item: QueueItem
    basis: DecisionBasis | None
    """None if the audience isn't on record."""
    review: PublishReview | None
    """None if the audience has no version or wasn't read."""
    problem: str = ""
    """Why it can't be read."""

    @property
    def page_name(self) -> str:
        page = self.review.page if self.review else None
        return (page.visible_name if page else "") or self.item.page_id

    @property
    def version(self) -> AudienceVersion | None:
        return self.review.snapshot.version if self.review else None

    @property
    def live(self) -> AudienceVersion | None:
        return self.review.snapshot.live if self.review else None

    @property
    def has_something(self) -> bool:
        """Whether there is a version that is not live."""
        live_id = self.live.version_id if self.live else None
        return self.version is not None and self.version.version_id != live_id

    @property
    def target(self) -> PublishTarget | None:
        return self.review.target if self.review else None

    @cached_property
    def difference(self) -> TextDifference:
        return compare_texts(text_of(self.live), text_of(self.version))

    @cached_property
    def thread(self) -> ConversationThread | None:
        """The conversation of the version; None if it can't be read."""
        pending = self.review.pending if self.review else None
        conversation = pending.conversation if pending else None
        return build_thread(conversation, live=self.live) if conversation else None

    @cached_property
    def verdicts(self) -> Mapping[str, JudgedChange]:
        """The verdicts on the pending changes, by change key; one query."""
        key = self.item.key
        return verdicts_in(self.thread, *key) if self.thread else {}

    @property
    def digest(self) -> str:
        """The digest that a decision has to match; "" if none may be made.

        Somebody else may have recorded another text while this one was read.
        """
        if self.basis is None:
            return ""
        is_same = version_digest(self.version) == version_digest(self.basis.version)
        return self.basis.digest if is_same or self.review is None else ""


def read_desk(item: QueueItem, user_id: int) -> Desk:
    """Read the latest version of an item from the service, like the publish dialog."""
    review, problem = None, ""
    record = audience_last_known(*item.key)
    if record and record.latest_version_id:
        target = PublishTarget(*item.key, record.latest_version_id)
        try:
            review = review_publish(target, with_conversation=True)
            latest = review.audience.latest_version
            if latest and latest.version_id != target.version_id:
                # The service returned a newer version, so the user decides on that one.
                target = target._replace(version_id=latest.version_id)
                review = review_publish(target, with_conversation=True)
        except APIError as error:
            review, problem = None, str(error)
        record = audience_last_known(*item.key)
    basis = read_basis(record, user_id) if record else None
    return Desk(item, basis, review, problem)
