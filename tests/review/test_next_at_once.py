"""Two people who press Next at the same moment get different items."""

import pytest

from dashboard.live.models import Presence
from dashboard.review.models import ReviewRun
from dashboard.review.runs import begin_run, go_to_next, read_queue
from tests.conftest import person
from tests.support.at_once import at_once
from tests.support.fake_service import FakeService
from tests.support.many_audiences import ManyAudiences

TIMES = 20


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_next_at_once_is_never_the_same(
    fake_service: FakeService, pytestconfig: pytest.Config
) -> None:
    fake_service.answer = service = ManyAudiences()
    keys = service.add(4)
    runs = [
        begin_run(
            person(name, "Publishers"),
            title="All",
            query="",
            keys=keys,
            matches=4,
            form_key=None,
        )
        for name in ("one", "two")
    ]

    def press(number: int) -> int:
        item = go_to_next(read_queue(ReviewRun.objects.get(pk=runs[number].pk)), 0, may_decide=True)
        return item.number if item else 0

    for _ in range(100 if pytestconfig.getoption("exhaustive") else TIMES):
        Presence.objects.all().delete()
        first, second = at_once(2, press)
        assert first != second
        assert Presence.objects.exclude(claimed_until=None).count() == 2
