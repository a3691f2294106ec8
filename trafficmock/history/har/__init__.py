"""One entry of the history as HAR 1.2: ``har_export``, with the cookies of ``har_cookies``."""
