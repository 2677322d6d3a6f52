"""The worker's task that reads everything at the first start, then once an hour."""

import logging
from functools import partial
from threading import Event

from django.conf import settings

from dashboard import clock
from dashboard.ledger.crawls import INTERVAL, RETRY_AFTER, claim_crawl, release_crawl, save_crawl
from dashboard.ledger.models import Crawl, CrawlState
from dashboard.service.crawling import Crawler
from dashboard.work.claims import Claim, ClaimLostError, earliest
from dashboard.work.tasks import WorkerTask, attempt

_logger = logging.getLogger("dashboard.crawl")


def run_crawl(worker_id: str, stop: Event) -> None:
    claim = claim_crawl(worker_id, clock.now())
    if claim:
        attempt(claim, lambda claim: _crawl(claim, stop), _record_error)


def _crawl(claim: Claim[Crawl], stop: Event) -> None:
    crawl = claim.row
    crawler = Crawler(crawl, rate=settings.CRAWL_RATE, stop=stop, save=lambda _: save_crawl(claim))
    try:
        with claim.renewed():
            crawler.run()
    except ClaimLostError:
        _logger.info("The crawl was taken over by another process")
        return
    end_crawl(claim, crawler)
    if crawl.failure:
        _logger.warning("The crawl failed: %s", crawl.failure)
    elif crawler.is_finished:
        _logger.info("The crawl has read %d pages. %s", crawl.pages, crawl.speed)


def _record_error(claim: Claim[Crawl]) -> None:
    # The checkpoint may be what fails, so the next crawl starts over.
    claim.row.state, claim.row.checkpoint = CrawlState.FAILED, {}
    claim.row.failure = "Pressroom failed unexpectedly. The error was logged."
    release_crawl(claim, clock.now() + RETRY_AFTER)


def end_crawl(claim: Claim[Crawl], crawler: Crawler) -> bool:
    """Record the result and the next due time; return whether the claim was still held."""
    crawl, now = claim.row, clock.now()
    crawl.pause_reason = ""
    if crawl.failure:
        crawl.state = CrawlState.FAILED
        return release_crawl(claim, now + RETRY_AFTER)
    if not crawler.is_finished:
        # The worker is stopping: the next one continues at once.
        return release_crawl(claim, now)
    crawl.state, crawl.finished_at, crawl.checkpoint = CrawlState.FINISHED, now, {}
    return release_crawl(claim, now + INTERVAL)


CRAWL = WorkerTask(run_crawl, due=(partial(earliest, Crawl.objects.all),))
