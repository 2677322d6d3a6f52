"""The URL of the server. A server fills in its own when it serves the wheel."""

URL = ""
