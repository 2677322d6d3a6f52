"""Approval by another person: the rule, the requests, and changes to webhooks and pages."""
