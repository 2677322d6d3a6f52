"""What was made of a thing is made once while the thing is the same."""

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from dashboard.kept import Kept

MOST = 3
asked = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)))


@given(asked=asked)
def test_what_is_returned_was_made_of_an_equal_thing_and_made_anew_for_another(
    asked: list[tuple[int, int]],
) -> None:
    kept = Kept[int, int, list[int]](MOST)
    made: list[list[int]] = []
    last: dict[int, list[int]] = {}

    def make(thing: int) -> list[int]:
        made.append([thing])
        return made[-1]

    for key, thing in asked:
        count = len(made)
        found = kept.made_of(key, thing, make)
        is_known = last.get(key) == [thing]
        assert found == [thing]
        assert (found is last.get(key)) == (len(made) == count) == is_known
        if not is_known:
            last.pop(key, None)
            last[key] = found
        last = dict([*last.items()][-MOST:])


def test_what_is_good_no_more_is_made_anew() -> None:
    good = {1}
    kept = Kept[str, int, tuple[int]](MOST, is_good=lambda made: made[0] in good)
    first = kept.made_of("a", 1, lambda thing: (thing,))
    assert kept.made_of("a", 1, lambda thing: (thing,)) is first
    good.clear()
    assert kept.made_of("a", 1, lambda thing: (thing,)) is not first


def test_threads_may_share_it() -> None:
    kept = Kept[int, int, tuple[int]](MOST)

    def ask(n: int) -> bool:
        return kept.made_of(n % 7, n % 3, lambda thing: (thing,)) == (n % 3,)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(5_000)))
