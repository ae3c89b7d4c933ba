"""Pickles name modules: what was pickled before modules moved is read, and what is pickled now has the former names."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import pickle
import pickletools
from pathlib import Path
from typing import Any

import pytest

import wengert

DATA = Path(__file__).resolve().parents[1] / "data"
FORMER = {k: base64.b64decode(v) for k, v in json.loads((DATA / "former_pickles.json").read_text("utf-8")).items()}


def objects() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("make_former_pickles", DATA / "make_former_pickles.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.objects()  # type: ignore[no-any-return]


def shown(value: Any) -> str:
    if isinstance(value, wengert.nn.Module):
        value = (value, value.state_dict())
    if isinstance(value, wengert.optim.Optimizer):
        value = value.state_dict()
    if isinstance(value, wengert.UntypedStorage):
        value = value.tolist()
    return repr((value, getattr(value, "note", None)))


def names_in(data: bytes) -> set[str]:
    return {str(argument) for op, argument, _ in pickletools.genops(data) if op.name == "GLOBAL"}


@pytest.mark.parametrize("name", sorted(FORMER.keys() - {"saved"}))
def test_what_was_pickled_is_read_and_pickled_alike(name: str) -> None:
    now = objects()[name]
    assert shown(pickle.loads(FORMER[name])) == shown(now)
    assert names_in(pickle.dumps(now, 2)) == names_in(FORMER[name])


def test_what_was_saved_is_loaded() -> None:
    loaded = wengert.load(io.BytesIO(FORMER["saved"]))
    assert shown(loaded["state"]) == shown(objects()["linear"].state_dict()) and loaded["size"] == (2,)
