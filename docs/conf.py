"""How Sphinx builds the documentation."""

import sys
from pathlib import Path

from trafficmock import __version__

project = "trafficmock"
copyright = "the trafficmock authors"  # noqa: A001 - Sphinx's name
release = version = __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

extensions = ["dark_pictures", "myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "examples/**"]
nitpicky = True
smartquotes = False  # they would make one dash of the two before an option

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_title = f"trafficmock {release}"
