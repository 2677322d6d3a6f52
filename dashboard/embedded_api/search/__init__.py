"""Search among people: exact, in the order of the list, at a million of them.

`words` says what is compared; `upkeep` keeps a text for each person, numbered in the order of
the list; `by_grams` (SQLite) and `by_pieces` (PostgreSQL) find the texts that have every word;
`people` answers a search with them.
"""
