"""Addons of mitmproxy: ``announce`` writes the ready file, ``mock`` answers the mocked load.

They run in mitmproxy's interpreter, where trafficmock is not installed.
"""
