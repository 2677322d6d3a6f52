"""What we saw and did: the one memory. Source: DESIGN.md, The idea."""
