"""Pages of reviews: begin a review of a list, work through its items, decide on each."""
