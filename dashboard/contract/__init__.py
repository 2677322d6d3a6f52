"""What the wire says: the spec's resources as pydantic models, and nothing else."""
