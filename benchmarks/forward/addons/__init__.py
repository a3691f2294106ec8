"""What mitmproxy loads to ``announce`` itself and to ``mock``.

It runs in mitmproxy's own interpreter, with nothing of ours installed.
"""
