"""The README as a package index shows it, for hatchling: links that leave the page lead to an absolute address.

In the repository links are relative. An index has no files beside the page; what a link names lies in the source
distribution, so the links lead to the project's list of files. Pictures of the repository are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = r"(?!https?:|#|mailto:)[^)\s]+"


def for_an_index(readme: str, files: str) -> str:
    """The text with links to ``files`` in place of relative ones, and without relative pictures."""
    readme = re.sub(rf"!\[[^\]]*\]\({_RELATIVE}\)\n*", "", readme)
    return re.sub(rf"\]\({_RELATIVE}\)", f"]({files})", readme)


class ReadmeHook(MetadataHookInterface):
    """Hatchling's hook for dynamic metadata: the readme."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``readme``."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        made = for_an_index(text, metadata["urls"]["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": made}
