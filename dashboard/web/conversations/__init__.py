"""The conversation of an audience with its agent."""
