"""The command line `pressroom`. It imports nothing from the server."""

VERSION = "0.1.0"
URL = ""
"""URL of the server. A server fills in its own when it serves the wheel."""
