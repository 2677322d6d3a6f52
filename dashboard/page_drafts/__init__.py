"""Drafts of pages: what was typed into "Create page" and not sent yet."""
