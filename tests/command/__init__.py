"""Tests of the commands that read a running proxy."""
