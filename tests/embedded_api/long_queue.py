"""Settings of a server whose versions stay queued while a test reads it."""

from config.settings import *  # noqa: F403

EMBEDDED_API_QUEUE_S = 600.0
