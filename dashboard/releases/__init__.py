"""Several versions, one decision: review, schedule, run, roll back; and the worker."""
