"""Programs that each use one HTTP client; see :mod:`tests.clients.programs.base`."""
