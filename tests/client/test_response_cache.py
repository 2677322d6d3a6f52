"""A value is computed once while its input is the same, and the cache stays within its bytes."""

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from dashboard.client.response_parsing import ByteBoundedCache

MAX_ENTRIES = 3
lookups = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)))


@given(lookups=lookups)
def test_a_value_is_computed_again_for_another_input_alone(lookups: list[tuple[int, int]]) -> None:
    cache = ByteBoundedCache[int, int, list[int]](MAX_ENTRIES, size_of=lambda *_: 1)
    computed: list[list[int]] = []
    last: dict[int, list[int]] = {}

    def compute(source: int) -> list[int]:
        computed.append([source])
        return computed[-1]

    for key, source in lookups:
        count = len(computed)
        value = cache.get_or_compute(key, source, compute)
        is_cached = last.get(key) == [source]
        assert value == [source]
        assert (value is last.get(key)) == (len(computed) == count) == is_cached
        if not is_cached:
            last.pop(key, None)
            last[key] = value
        last = dict([*last.items()][-MAX_ENTRIES:])


def test_no_more_bytes_are_cached_than_allowed() -> None:
    cache = ByteBoundedCache[int, str, str](1_000, size_of=lambda *texts: sum(map(len, texts)))
    first = cache.get_or_compute(0, "a" * 400, str.upper)
    assert cache.get_or_compute(0, "a" * 400, str.upper) is first
    for number in range(50):
        cache.get_or_compute(number % 7, "b" * (10 * number), str.upper)
        assert cache.size_bytes <= 1_000
    assert cache.get_or_compute(0, "a" * 400, str.upper) is not first


def test_a_value_larger_than_the_cache_is_recomputed() -> None:
    cache = ByteBoundedCache[int, str, str](1_000, size_of=lambda source, _: len(source))
    values = [cache.get_or_compute(1, "a" * 1_001, str.upper) for _ in range(2)]
    assert values[0] is not values[1]
    assert cache.size_bytes == 0


def test_a_cleared_cache_computes_again() -> None:
    cache = ByteBoundedCache[int, str, str](1_000, size_of=lambda source, _: len(source))
    first = cache.get_or_compute(1, "a", lambda source: source * 2)
    cache.clear()
    assert cache.size_bytes == 0
    assert cache.get_or_compute(1, "a", lambda source: source * 2) is not first


def test_threads_may_share_it() -> None:
    cache = ByteBoundedCache[int, int, tuple[int]](MAX_ENTRIES, size_of=lambda *_: 1)

    def look_up(n: int) -> bool:
        return cache.get_or_compute(n % 7, n % 3, lambda source: (source,)) == (n % 3,)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(look_up, range(5_000)))
