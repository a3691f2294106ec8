"""How Sphinx builds the documentation."""

from trafficmock import __version__

project = "trafficmock"
copyright = "the trafficmock authors"  # noqa: A001 - Sphinx's name
release = version = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "examples/**"]
nitpicky = True
smartquotes = False  # they would make one dash of the two before an option

html_theme = "furo"
html_title = f"trafficmock {release}"
