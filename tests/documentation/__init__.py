"""Tests of the documentation: options, links, snippets, the tutorial."""
