"""Where inbound requests begin.

:mod:`.framework_entries` changes web frameworks, :mod:`.server_entries` servers.
"""
