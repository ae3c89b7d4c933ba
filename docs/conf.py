"""The site: `python -m pip install '.[docs]' && python -m sphinx docs site`, without a network.

The pages are the Markdown files of this folder, as GitHub shows them too. `_site.pages` turns their Python blocks into
cells, which myst-nb runs at each build; `_site.api` lists the public names for autodoc.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from _site import api, browser, pages
from sphinx.application import Sphinx

import wengert

project = "wengert"
author = "The wengert authors"
copyright = author
version = release = wengert.version.wengert

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_site"]
templates_path = ["_site"]
html_theme = "furo"
html_title = "wengert"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": False,  # the arrow keys belong to the pages of `explain.steps`
    "light_css_variables": {"color-brand-primary": "#0a58ca", "color-brand-content": "#0a58ca"},
    "dark_css_variables": {"color-brand-primary": "#6ea8fe", "color-brand-content": "#6ea8fe"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_in_temp = True  # what a page saves goes away with it
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_display_short_literal_types = True
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # "Attributes:" of a class beside properties of the same names
suppress_warnings = ["ref.python"]  # `Tensor` in an annotation is one class under several names

# Pages are small work, and are read side by side: threads of BLAS would only wait for each other.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


def _language(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    if page.startswith("zh/"):
        context["language"] = "zh-CN"


def setup(app: Sphinx) -> None:
    """Connect what reads the pages."""
    app.connect("html-page-context", _language)
    pages.connect(app)
    api.connect(app)
    browser.connect(app)
