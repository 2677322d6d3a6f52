"""The state of the crawl, which reads every page and its audiences."""

from django.db import models

from dashboard.work.claims import ClaimedRow


class CrawlState(models.TextChoices):
    """How far the crawl is."""

    WAITING = "waiting", "Not started"
    RUNNING = "running", "In progress"
    """Also while it is paused, and after its process was killed: it is continued."""
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"
    """It stopped before the end. It is continued after a while."""


class Crawl(ClaimedRow):
    """The single row with the state of the crawl. Its counts are those of the current or last one.

    `wake_at` is when to begin or continue.
    """

    state = models.CharField(max_length=16, choices=CrawlState, default=CrawlState.WAITING)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    """When a crawl last reached the end of the list."""
    checkpoint = models.JSONField(default=dict)
    """Where to continue: the cursor of the list of pages, and the counts before it."""
    pages = models.BigIntegerField(default=0)
    pages_in_all = models.BigIntegerField(null=True)
    """The service's own total."""
    audiences = models.BigIntegerField(default=0)
    calls = models.BigIntegerField(default=0)
    problems = models.BigIntegerField(default=0)
    """How many pages, or items of a list, could not be read."""
    last_problem = models.TextField(blank=True)
    pause_reason = models.TextField(blank=True)
    """Why it waits until `wake_at`, as a sentence; empty if it doesn't."""
    failure = models.TextField(blank=True)
    """Why it failed, as a sentence."""
    calls_per_second = models.FloatField(null=True)
    """The rate that was reached."""
    speed = models.TextField(blank=True)
    """That rate and its reason, as a sentence."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"crawl, {self.get_state_display().lower()}"

    @property
    def is_running(self) -> bool:
        """Whether it is in progress or paused."""
        return self.state == CrawlState.RUNNING
