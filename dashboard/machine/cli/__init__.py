"""The command line `pressroom`. It imports nothing from the server."""

VERSION = "0.1.0"
