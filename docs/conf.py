"""How Sphinx builds the documentation."""

import sys
from pathlib import Path

from trafficmock import __version__

project = "trafficmock"
copyright = "the trafficmock authors"  # noqa: A001 - Sphinx's name
release = version = __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

extensions = ["command_help", "myst_parser", "sphinx.ext.autodoc"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "examples/**"]
nitpicky = True
# Types in signatures are for reading; the pages link to what they describe.
nitpick_ignore_regex = [("py:.*", ".*")]
smartquotes = False  # they would make one dash of the two before an option

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_title = f"trafficmock {release}"
