"""Requests for the approval of another person: the list, one request, and the decision."""
