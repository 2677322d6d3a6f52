"""Labels: whole numbers in the order of the list, with room between them for who comes later.

With them the first matches in the order of the list are the first ones of the index, whether ten
people match or a million, and nothing is sorted.
"""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from dashboard.embedded_api.models import PersonText
from dashboard.embedded_api.search.found import Index, Span
from dashboard.embedded_api.search.rows import rows

GAP = 1 << 32
"""Between two labels when all are given anew."""
_ROOM = 1 << 16
"""Between two labels, at least, after some of them made room."""
Ends = tuple[int, int] | tuple[None, None]
"""Two labels, or none of nobody."""
_LABELS = "SELECT label FROM embedded_api_persontext WHERE tenant_id = %s AND label >= %s"
_ENDS = f"SELECT ({_LABELS} ORDER BY label LIMIT 1), ({_LABELS} ORDER BY label DESC LIMIT 1)"


def ends_of(span: Span) -> Ends:
    """Return the first and the last label, none of another tenant between them."""
    [(first, last)] = rows(_ENDS, *span, *span)
    return first, last


def ids_of(labels: Sequence[int]) -> list[str]:
    """Return the ids of the people with those labels, in their order."""
    texts = PersonText.objects.filter(label__in=labels).order_by("label")
    return list(texts.values_list("person_id", flat=True))


def first_after(tenant_id: str, name: str, person_id: str) -> int | None:
    """Return the label of the first person of the tenant after that name and id, if any."""
    # The first condition alone bounds the index; the other two settle the tie.
    after = Q(name__gte=name) & (Q(name__gt=name) | Q(person_id__gt=person_id))
    texts = PersonText.objects.filter(after, tenant_id=tenant_id)
    return _label(texts.order_by("name", "person_id"))


def label_for(index: Index, tenant_id: str, name: str, person_id: str) -> int:
    """Return a free label for a person at that place of the list; others may have to move."""
    before = _last_before(tenant_id, name, person_id)
    after = _label(_above(before).order_by("label"))
    if before is None:
        return 0 if after is None else after - GAP
    if after is None:
        return before + GAP
    if after - before < 2:
        _make_room(index, before)
        return label_for(index, tenant_id, name, person_id)
    return (before + after) // 2


def _last_before(tenant_id: str, name: str, person_id: str) -> int | None:
    before = Q(name__lte=name) & (Q(name__lt=name) | Q(person_id__lt=person_id))
    own = PersonText.objects.filter(before, tenant_id=tenant_id)
    label = _label(own.order_by("-name", "-person_id"))
    if label is not None:
        return label
    others = PersonText.objects.filter(tenant_id__lt=tenant_id)
    return _label(others.order_by("-tenant_id", "-label"))


def _above(label: int | None) -> "QuerySet[PersonText]":
    texts = PersonText.objects.all()
    return texts if label is None else texts.filter(label__gt=label)


def _label(texts: "QuerySet[PersonText]") -> int | None:
    return texts.values_list("label", flat=True).first()


def _make_room(index: Index, label: int) -> None:
    """Spread the labels around one evenly: as few as have room enough among them."""
    width = 32
    while True:
        lower = PersonText.objects.filter(label__lte=label).order_by("-label")[:width]
        texts = [*reversed(lower), *_above(label).order_by("label")[:width]]
        step = (texts[-1].label - texts[0].label) // (len(texts) - 1)
        is_all = len(texts) == PersonText.objects.count()
        if step >= _ROOM or is_all:
            return _spread(index, texts, step=GAP if is_all else step)
        width *= 4


def _spread(index: Index, texts: Sequence[PersonText], *, step: int) -> None:
    low = texts[0].label
    index.remove(texts)
    PersonText.objects.filter(label__range=(low, texts[-1].label)).delete()
    for number, text in enumerate(texts):
        text.label = low + number * step
    PersonText.objects.bulk_create(texts)
    index.add(texts)
