"""What can be seen on Linux of other platforms, reactors and file systems.

``test_types``: mypy with the standard library of Windows and macOS. ``test_imports``: the product
without the modules that Windows lacks, in the process ``without_posix_modules``. ``test_reactors``:
the service and the Twisted tests under other reactors. ``test_paths``: directories with spaces, and
paths that are too long for a socket. ``test_posix_words``: modules that name what is not on all
platforms. ``test_wine``: Node for Windows, with the program ``windows_node.mjs``.
``test_hidden``: without ``/proc``. ``trial_runs`` runs tests for these.
"""
