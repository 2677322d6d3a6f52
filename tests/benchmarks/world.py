"""The rows for measuring: copies of the sample's, so that they have realistic lengths.

The sample is the same in each run: its topics' names are the seeds.
"""

from itertools import cycle
from typing import Any

A_LIST = 50
"""Number of audiences per page, as many as other lists show."""


def make_world(pages: int, audiences: int, people: int) -> None:
    """Fill the service with these numbers of rows, in a process where Django is set up."""
    from django.db import transaction
    from django.utils import timezone

    from dashboard.embedded_api.models import Page
    from dashboard.embedded_api.sample import Sample

    with transaction.atomic():
        Sample(timezone.now()).load(people_count=people, progress=lambda *_: None)
        sample = list(Page.objects.all())
        numbered = zip(range(pages), cycle(sample), strict=False)
        copies = [_copy(page, f"page_{number}") for number, page in numbered]
        for model, rows in ((Page, copies), *_audiences(audiences)):
            model.objects.bulk_create(rows, batch_size=1_000)
        Page.objects.filter(pk__in=[page.pk for page in sample]).delete()


def _audiences(count: int) -> list[tuple[Any, list[Any]]]:
    """Return copies of the sample's audiences and their versions, on the first pages."""
    from dashboard.embedded_api.models import Audience, Version

    sources = Audience.objects.prefetch_related("versions")
    audiences, versions = [], []
    for number, source in zip(range(count), cycle(sources), strict=False):
        audience = _copy(source, f"aud_{number}", page_id=f"page_{number // A_LIST}")
        audiences.append(audience)
        versions += [
            _copy(version, f"ver_{number}_{place}", audience_id=audience.pk)
            for place, version in enumerate(source.versions.all())
        ]
    return [(Audience, audiences), (Version, versions)]


def _copy(row: Any, key: str, **differs: str) -> Any:
    values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return type(row)(**values | {"id": key} | differs)
