"""Builds, checks and tries the packages of a release: ``python -m tools.release``.

``packages`` makes the wheel, the sdist and the npm tarballs in ``dist/``; ``checks`` runs the
checkers of the two registries over them; ``trial_runs`` installs each into an empty directory and
runs the first example of the README with it, and ``playwright_run`` the example of the Playwright
package with the newest Playwright. Nothing is published: whoever may publish uploads what
lies in ``dist/``.
"""
