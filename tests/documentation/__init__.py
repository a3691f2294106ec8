"""Tests of the documentation: options, links, snippets, the tutorial.

``example_project`` sets up an example as a project of its own.
"""
