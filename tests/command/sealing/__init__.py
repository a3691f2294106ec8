"""Tests of sealed commands, in namespaces of their own."""
