"""The approval of another person: the rule, requests, and changes of webhooks and pages."""
