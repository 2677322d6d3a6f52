"""Requests for another person's approval: the list, the page of a request, and decisions."""
