"""Operation 5: publish a version, once for each operation key."""

from dataclasses import asdict
from datetime import timedelta
from http import HTTPStatus

from django.conf import settings
from django.db import transaction
from django.db.models import Min

from dashboard import clock
from dashboard.contract.pages import PageStatus
from dashboard.embedded_api import lifecycle
from dashboard.embedded_api.events import plan_events
from dashboard.embedded_api.ids import last_uuid7_of
from dashboard.embedded_api.models import OperationKey, Page, Version
from dashboard.embedded_api.models.pages import status_of_page
from dashboard.json_api.problems import ProblemError, not_found


@transaction.atomic
def publish_version(
    *, tenant_id: str, page_id: str, audience_id: str, version_id: str, operation_key: str | None
) -> Version:
    """Publish a version and return its new state. See `lifecycle` for the changes.

    If the operation key was used for this version before, nothing changes. A key counts as used
    only if its request succeeded. Raises ProblemError: 409 if the key was used for another version
    or the version is cancelled, 404 if the page or the version doesn't exist.
    """
    # One publish at a time on a page: SQLite has one writer, other databases lock the row.
    pages = Page.objects.select_for_update().filter(tenant_id=tenant_id, id=page_id)
    if not (page := pages.first()):
        raise not_found("Page not found.")
    of_audience = Version.objects.filter(audience_id=audience_id, audience__page=page)
    versions = {version.id: version for version in of_audience}
    if version_id not in versions:
        raise not_found("Version not found.")
    version, is_first_use = versions[version_id], True
    if operation_key is not None:
        key_record, is_first_use = OperationKey.objects.get_or_create(
            tenant_id=tenant_id, key=operation_key, defaults={"version": version}
        )
        if key_record.version_id != version_id:
            detail = "This operationKey was already used to publish another version."
            raise ProblemError(HTTPStatus.CONFLICT, detail)
    if is_first_use:
        _apply(page, versions, version_id)
    return version


def _apply(page: Page, versions: dict[str, Version], version_id: str) -> None:
    now = clock.now()
    dates = {key: lifecycle.Dates.of(version) for key, version in versions.items()}
    try:
        changes = lifecycle.publish(
            dates,
            version_id,
            now=now,
            queue=timedelta(seconds=settings.EMBEDDED_API_QUEUE_S),
            processing=timedelta(seconds=settings.EMBEDDED_API_PROCESSING_S),
        )
    except lifecycle.CancelledVersionError:
        detail = "This version was canceled, so it can't be published."
        raise ProblemError(HTTPStatus.CONFLICT, detail) from None
    for key, new_dates in changes.items():
        for name, mark in asdict(new_dates).items():
            setattr(versions[key], name, mark)
    changed = [versions[key] for key in changes]
    Version.objects.bulk_update(changed, lifecycle.DATE_NAMES)
    plan_events(page, changed, before=dates, now=now)
    if changes and status_of_page(page, last_uuid7_of(now)) is PageStatus.DRAFT:
        # A draft page is published when its first version goes live.
        of_page = Version.objects.filter(audience__page=page)
        page.published_at = of_page.aggregate(first=Min("published_at"))["first"]
        page.save(update_fields=["published_at"])
