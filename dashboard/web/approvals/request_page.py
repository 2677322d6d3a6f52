"""The page of an approval request: what to approve, and what has changed since."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.functional import cached_property

from dashboard.approvals.models import ApprovalRequest, RequestState
from dashboard.approvals.rule import person_problem
from dashboard.client import APIError
from dashboard.contract.webhooks import SubscriptionPatch
from dashboard.ledger.models import Publication
from dashboard.ledger.queries.audiences import live_publication
from dashboard.releases.approval_subjects import needs_approval
from dashboard.releases.checking import read_items
from dashboard.releases.decisions import number_to_type
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import ComparedField, compare_review
from dashboard.service.subscriptions import fetch_subscription
from dashboard.text_diff import TextDifference, compare_texts
from dashboard.web.releases.board import Board, ItemDetail, read_board

CHANGED = "It has changed since the request, so it can’t be approved. Request it again."
NOT_READ = "The service couldn’t be read, so what you see may be out of date. Try again."


@dataclass(frozen=True)
class Reading:
    fields: list[ComparedField]
    """Compared fields; empty if the service couldn't be read."""
    error: APIError | None = None
    text: TextDifference | None = None
    """Difference between the requested text and the current one; None if they are equal."""

    @property
    def is_changed(self) -> bool:
        return any(field.is_changed for field in self.fields)


@dataclass(frozen=True)
class RequestPage:
    approval: ApprovalRequest
    viewer: User
    release: Release | None
    board: Board | None
    detail: ItemDetail | None
    reading: Reading | None
    """Current state of the service; None if the request needs no reading."""

    @property
    def is_started(self) -> bool:
        """Whether the approved release has been started."""
        is_approved = self.approval.state == RequestState.APPROVED
        return bool(is_approved and self.release and self.release.started_at)

    @cached_property
    def only_item(self) -> ReleaseItem | None:
        entries = self.board.entries if self.board else []
        return entries[0].item if len(entries) == 1 else None

    @cached_property
    def live(self) -> Publication | None:
        """The live publication of the only item's audience."""
        item = self.only_item
        return live_publication(item.page_id, item.audience_id) if item else None

    @property
    def is_for_release(self) -> bool:
        return "items" in self.approval.subject

    @property
    def body(self) -> str:
        return json.dumps(self.approval.subject.get("body"), indent=2, ensure_ascii=False)

    @cached_property
    def problem(self) -> str:
        return person_problem(self.approval, self.viewer)

    @property
    def is_own(self) -> bool:
        return self.approval.requested_by_id == self.viewer.pk

    @cached_property
    def may_publish_own(self) -> bool:
        """Whether a token of the viewer's requested it, and no rule requires an approval."""
        release = self.release
        if release is None or not (self.is_own and self.approval.by_program):
            return False
        return not needs_approval(release)

    @property
    def count_to_type(self) -> int | None:
        """Number of versions, if it has to be typed; otherwise None."""
        return number_to_type(entry.item for entry in self.board.entries) if self.board else None

    @property
    def approval_problem(self) -> str:
        """Why the request can't be approved in its current state, or ""."""
        if self.reading and self.reading.error:
            return NOT_READ
        return CHANGED if self.reading and self.reading.is_changed else ""


def read_request_page(
    approval: ApprovalRequest, viewer: User, params: Mapping[str, str]
) -> RequestPage:
    """Return the page. If the change is not sent yet, read its current state from the service.

    For a release, read the item of `?item=`, or by default the first unreviewed one. That takes
    three calls.
    """
    releases = Release.objects.select_related("rolls_back")
    release = releases.filter(approval=approval).first() if "items" in approval.subject else None
    board = read_board(release, params) if release else None
    detail = ItemDetail(board.selected) if board and board.selected else None
    return RequestPage(approval, viewer, release, board, detail, _read(approval, release, detail))


def _read(
    approval: ApprovalRequest, release: Release | None, detail: ItemDetail | None
) -> Reading | None:
    if approval.state == RequestState.OPEN and "subscription_id" in approval.subject:
        return _read_webhook(approval)
    waits = (ReleaseState.WAITING_FOR_APPROVAL, ReleaseState.SCHEDULED)
    return _read_item(detail) if detail and release and release.state in waits else None


def _read_item(detail: ItemDetail) -> Reading:
    item = detail.item
    try:
        review = read_items([item])[item.pk]
    except APIError as error:
        return Reading([], error)
    then = item.version.supplementary_context
    now = review.version.supplementary_context if review.version else then
    text = compare_texts(then, now) if then != now else None
    return Reading(compare_review(item, review), text=text)


def _read_webhook(approval: ApprovalRequest) -> Reading:
    before = approval.subject["before"] or {}
    try:
        now = fetch_subscription(approval.subject["subscription_id"]).to_wire()
    except APIError as error:
        return Reading([], error)
    return Reading(
        [
            ComparedField(
                name,
                json.dumps(before.get(name), ensure_ascii=False),
                json.dumps(now.get(name), ensure_ascii=False),
                is_changed=before.get(name) != now.get(name),
            )
            for name in SubscriptionPatch.model_fields
        ]
    )
