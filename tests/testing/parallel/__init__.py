"""Parallel tests on one application, with the same URLs: each gets its own answers.

The tests start the test files of ``samples`` in several workers.
"""
