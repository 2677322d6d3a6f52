"""Reading the service: the state of the crawl, and deviations of its responses from the spec."""

from django.db import models

from dashboard import clock
from dashboard.work.claims import ClaimedRow


class CrawlState(models.TextChoices):
    WAITING = "waiting", "Not started"
    RUNNING = "running", "In progress"
    """Also while it is paused, and after its process was killed: it continues later."""
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"
    """It stopped before the end. It continues after a while."""


class Crawl(ClaimedRow):
    """The single row with the state of the crawl. Its counts belong to the current or last crawl.

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
    """Number of pages or list items that could not be read."""
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
        """Whether a process crawls or pauses. The claim of a killed process has ended."""
        is_claimed = self.wake_at is not None and self.wake_at > clock.now()
        return self.state == CrawlState.RUNNING and is_claimed


class ServiceState(models.Model):
    """The last outage of the service, as all processes know it: a single row, or none yet."""

    began_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    """Null while it lasts."""
    failed_at = models.DateTimeField(null=True)
    """When a call last failed, to within half a minute."""
    reason = models.TextField(blank=True)
    """Why that call failed, as a sentence."""
    responded_at = models.DateTimeField(null=True)
    """When the service last responded before the outage, as far as any process knew."""
    is_reported = models.BooleanField(default=False)
    """Whether users were notified of the outage, and not yet of its end."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"service, {'out' if self.is_out else 'not out'}"

    @property
    def is_out(self) -> bool:
        return self.began_at is not None and self.ended_at is None


class DeviationRecord(models.Model):
    """One kind of deviation at one place in the responses of one operation. Holds no values."""

    digest = models.CharField(max_length=64, unique=True)
    """Digest of operation, kind and place."""
    operation = models.CharField(max_length=64)
    """Name of the operation in the spec."""
    kind = models.CharField(max_length=64)
    place = models.CharField(max_length=200)
    """A path in the response, such as `items.*.status`."""
    message = models.CharField(max_length=200)
    """A description of the first occurrence."""
    example = models.TextField()
    """The path of the latest such request, without its query."""
    count = models.PositiveBigIntegerField(default=1)
    """The number of responses."""
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        ordering = ["-last_at", "-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.operation}, {self.place}: {self.kind}"
