"""Peers on the same rows: Django's admin, django-unfold, Wagtail. Each in a process of its own.

Nothing here imports Pressroom: a peer may run where its dependencies are not installed.
"""
