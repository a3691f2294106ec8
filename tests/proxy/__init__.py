"""Tests of the forward proxy."""
