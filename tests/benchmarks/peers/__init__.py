"""Peers on the same rows, in processes of their own without our packages: nothing of ours here."""
