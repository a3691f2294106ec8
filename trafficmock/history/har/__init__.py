"""HAR 1.2: entries of the history and of recordings.

``har_export`` makes them of the history, with the cookies of ``har_cookies``; ``recorded_entries``
makes those of recordings.
"""
