"""What the page of one request shows: what is to be approved, and what has changed since."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import User

from dashboard.client import APIError
from dashboard.contract.webhooks import SubscriptionPatch
from dashboard.ledger.models import ApprovalRequest
from dashboard.ledger.models.approvals import RequestState
from dashboard.operations.approvals import person_problem
from dashboard.releases.checking import read_items
from dashboard.releases.comparing import ComparedField, compare_review
from dashboard.releases.models import Release, ReleaseState
from dashboard.service.subscriptions import fetch_subscription
from dashboard.text_diff import TextDifference, compare_texts
from dashboard.web.releases.board import Board, ItemDetail, read_board

CHANGED = "It has changed since the request, so it can’t be approved. Request it again."
NOT_READ = "The service couldn’t be read, so what you see may be out of date. Try again."


@dataclass(frozen=True)
class Reading:
    """What was requested and what the service says now, side by side."""

    fields: list[ComparedField]
    """Empty if the service could not be read."""
    error: APIError | None = None
    text: TextDifference | None = None
    """The text that was requested, and the text now, if they differ."""

    @property
    def is_changed(self) -> bool:
        """Whether anything differs."""
        return any(each.is_changed for each in self.fields)


@dataclass(frozen=True)
class RequestPage:
    """One request, for one viewer."""

    request: ApprovalRequest
    viewer: User
    release: Release | None
    board: Board | None
    """The items of its release."""
    detail: ItemDetail | None
    reading: Reading | None
    """None if it is over, so that nothing has to be read."""

    @property
    def is_for_release(self) -> bool:
        """Whether versions are to be published."""
        return "items" in self.request.subject

    @property
    def body(self) -> str:
        """The request to the service, as it will be sent: JSON."""
        return json.dumps(self.request.subject.get("body"), indent=2, ensure_ascii=False)

    @cached_property
    def problem(self) -> str:
        """Why the viewer can't decide it, in a sentence, or ""."""
        return person_problem(self.request, self.viewer)

    @property
    def is_own(self) -> bool:
        """Whether the viewer has requested it, and can withdraw it."""
        return self.request.requested_by_id == self.viewer.pk

    @property
    def approval_problem(self) -> str:
        """Why the viewer, who may decide it, can't approve it as it is now, or ""."""
        if self.reading and self.reading.error:
            return NOT_READ
        return CHANGED if self.reading and self.reading.is_changed else ""


def read_request_page(
    request: ApprovalRequest, viewer: User, params: Mapping[str, str]
) -> RequestPage:
    """Return the page; read what is to be approved from the service while it is not sent yet.

    Of a release, that is the item of `?item=`, else the first not reviewed: three calls.
    """
    releases = Release.objects.select_related("rolls_back")
    release = releases.filter(approval=request).first() if "items" in request.subject else None
    board = read_board(release, params) if release else None
    detail = ItemDetail(board.selected) if board and board.selected else None
    return RequestPage(request, viewer, release, board, detail, _read(request, release, detail))


def _read(
    request: ApprovalRequest, release: Release | None, detail: ItemDetail | None
) -> Reading | None:
    if request.state == RequestState.OPEN and "subscription_id" in request.subject:
        return _read_webhook(request)
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


def _read_webhook(request: ApprovalRequest) -> Reading:
    before = request.subject["before"] or {}
    try:
        now = fetch_subscription(request.subject["subscription_id"]).to_wire()
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
