"""Pages of comments: the threads of a place, their forms, and the assignees of audiences."""
