"""``route_from_har``: look up recorded answers (``har_lookup``), leave those with the proxy that
method and URL decide (``har_replies``), read and write the file (``har_file``), record new ones
(``har_recording``), as a route (``har_routes``).
"""
