"""The receiver of the service's events, what it received, and the pages to read again."""
