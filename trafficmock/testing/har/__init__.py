"""``route_from_har``: routes that answer from a HAR file, or record one.

``har_routes`` registers the route, ``har_file`` reads and writes the file, and ``har_entries``
makes of it what the proxy gets. The proxy makes the entries of a recording.
"""
