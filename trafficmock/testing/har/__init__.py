"""``route_from_har``: routes that answer from a HAR file, or record one.

``har_routes`` registers the route, ``har_file`` reads and writes the file, ``har_lookup`` finds the
recorded response to a request, ``har_form`` checks the entries for it, ``har_recording`` makes new
entries. ``har_replies`` selects the
responses that depend only on method and URL: the proxy gets them with the route.
"""
