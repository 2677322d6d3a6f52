"""Peers on the same rows: Django's admin and Wagtail. Each in a process of its own.

Nothing here imports Pressroom: a peer runs where its dependencies are not installed.
"""
