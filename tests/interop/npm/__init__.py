"""Tests with the real npm clients: real processes, real sockets, loopback only."""
