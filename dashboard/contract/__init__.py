"""The spec's resources as pydantic models."""
