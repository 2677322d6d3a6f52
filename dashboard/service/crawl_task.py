"""The worker's task that reads everything: at first, then once an hour."""

import logging
from threading import Event

from django.conf import settings
from django.utils import timezone

from dashboard.ledger.crawls import (
    INTERVAL,
    RETRY_AFTER,
    CrawlTakenError,
    claim_crawl,
    earliest_crawl,
    save_crawl,
)
from dashboard.ledger.models import CrawlState
from dashboard.service.crawling import Crawler
from dashboard.work.tasks import WorkerTask

_logger = logging.getLogger("dashboard.crawl")


def run_crawl(worker_id: str, stop: Event) -> None:
    """Begin or continue the crawl, if it is due and no other process has it."""
    crawl = claim_crawl(worker_id, timezone.now())
    if crawl is None:
        return
    crawler = Crawler(crawl, rate=settings.CRAWL_RATE, stop=stop, save=save_crawl)
    try:
        _run(crawler)
        end_crawl(crawler)
    except CrawlTakenError:
        _logger.info("The crawl was taken over by another process")
    if crawl.failure:
        _logger.warning("The crawl failed: %s", crawl.failure)
    elif crawler.is_finished:
        _logger.info("The crawl has read %d pages. %s", crawl.pages, crawl.speed)


def _run(crawler: Crawler) -> None:
    """Crawl; an unexpected error is a failure like any other, after which it is continued later."""
    try:
        crawler.run()
    except CrawlTakenError:
        raise
    except Exception:
        _logger.exception("The crawl failed unexpectedly")
        crawler.crawl.failure = "Pressroom failed unexpectedly. The error was logged."


def end_crawl(crawler: Crawler) -> None:
    """Record the result, and when the crawl is due again. Raises CrawlTakenError."""
    crawl, now = crawler.crawl, timezone.now()
    crawl.pause_reason = ""
    if crawl.failure:
        crawl.state = CrawlState.FAILED
        save_crawl(crawl, until=now + RETRY_AFTER)
    elif crawler.is_finished:
        crawl.state, crawl.finished_at, crawl.checkpoint = CrawlState.FINISHED, now, {}
        save_crawl(crawl, until=now + INTERVAL)
    else:
        # The worker ends: the next one continues at once.
        save_crawl(crawl, until=now)


CRAWL = WorkerTask(run_crawl, due=(earliest_crawl,))
