"""Programs that each use one HTTP client; see :mod:`tests.interop.clients.programs.base`."""
