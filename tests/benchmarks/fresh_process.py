"""Run a function with Django in a new process, and measure what it took."""

import logging
import os
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any


@dataclass(frozen=True)
class Done:
    """What a function returned and took; memory is the peak of its process."""

    result: Any
    seconds: float
    page_faults: int
    memory_mb: float


def in_fresh_process(env: dict[str, str], act: Callable[..., Any], *arguments: Any) -> Done:
    """Call a function in a process where these variables configure Django."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_do, env, act, arguments).result()


def _do(env: dict[str, str], act: Callable[..., Any], arguments: tuple[Any, ...]) -> Done:
    import django

    os.environ |= env
    django.setup()
    logging.disable(logging.WARNING)
    begun = time.perf_counter()
    result = act(*arguments)
    seconds, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF)
    return Done(result, seconds, used.ru_minflt + used.ru_majflt, used.ru_maxrss * 1024 / 1e6)
