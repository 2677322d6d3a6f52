"""The version history of an audience, and the comparison of two versions."""
