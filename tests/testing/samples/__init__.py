"""Programs that tests run in processes of their own.

``that_waits`` and ``with_environment`` are test files, ``browser_replays`` shows a browser a HAR.
"""
