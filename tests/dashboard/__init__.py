"""The dashboard: its process, its files, and its pages in a real browser.

The tests of the service's modules stand here, without a port by ``fakes``. ``browser`` has those of
the pages, ``fixtures`` what these need.
"""
