"""Fixtures of the C tier's tests: they need a compiler, and share one cache of libraries."""

from __future__ import annotations

import os

import pytest

from wengert._compile.c import compilers


@pytest.fixture(scope="session")
def c_cache(tmp_path_factory):
    """A cache directory for the session, or the one that the environment names: `.ci/run` has one for all its steps."""
    path = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WENGERT_CACHE_DIR", os.environ.get("WENGERT_CACHE_DIR") or str(path / "c"))
        if compilers.compiler() is None:
            pytest.skip("no C compiler is on this machine")
        if os.environ.get("WENGERT_EMULATED"):
            import emulated

            emulated.install(os.environ["WENGERT_EMULATED"], path)
        yield path
