"""Peers on the same rows. Their processes lack our packages, so nothing here imports ours."""
