"""``route_from_har``: look up recorded answers (``har_lookup``), read and write the file
(``har_file``), record new ones (``har_recording``), as a route (``har_routes``).
"""
