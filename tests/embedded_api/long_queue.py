"""The settings of a server that a test reads before anything leaves its queue."""

from config.settings import *  # noqa: F403

EMBEDDED_API_QUEUE_S = 600.0
