"""The wheel's shared library and tag, for hatchling; the C in a source distribution.

The version is wengert's: a library serves the version whose operators it was made from.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent


def wengert_version() -> str:
    """The version in ``../src``, or in a source distribution."""
    source = HERE.parent / "src/wengert/_version.py"
    written = HERE / "generated/version.txt"
    if written.is_file():
        return written.read_text(encoding="ascii").strip()
    found = re.search(r'^__version__ = "(.+)"', source.read_text(encoding="utf-8"), re.M)
    if found is None:
        raise RuntimeError(f"{source} has no version")
    return found[1]


class Hook(BuildHookInterface):
    """Compile before the wheel is packed; generate before the source distribution is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the library, or the C, to what is packed."""
        sys.path.insert(0, str(HERE))
        from build_library import build, generate, suffix

        self.folder = tempfile.TemporaryDirectory(prefix="wengert-kernels-")
        made = Path(self.folder.name)
        if self.target_name == "sdist":
            generate(made)
            (made / "version.txt").write_text(wengert_version(), encoding="ascii")
            build_data["force_include"].update({str(p): f"generated/{p.name}" for p in made.iterdir()})
            return
        library = made / f"kernels.{suffix()}"
        build(library)
        build_data["force_include"][str(library)] = f"wengert_kernels/{library.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{re.sub('[-.]', '_', sysconfig.get_platform())}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made."""
        self.folder.cleanup()
