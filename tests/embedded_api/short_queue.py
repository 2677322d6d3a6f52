"""Settings of a server that publishes at once, so that tests don't wait."""

from tests.support.server_settings import *  # noqa: F403

EMBEDDED_API_QUEUE_S = EMBEDDED_API_PROCESSING_S = 0.2
