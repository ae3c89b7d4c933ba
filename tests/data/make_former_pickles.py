"""Writes former_pickles.json: what an older wengert pickled, for tests/saving/test_former_pickles.py.

    PYTHONPATH=OLDER/src python tests/data/make_former_pickles.py

It was written by commit e33e48b, before modules moved into rooms. It is not made anew: it stands for users' files.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
from pathlib import Path
from typing import Any

import wengert as torch


def objects() -> dict[str, Any]:
    """What is pickled, by name."""
    torch.manual_seed(0)
    nn, noted = torch.nn, torch.ones(2)
    noted.note = "kept"
    linear = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(linear.parameters(), lr=0.1, momentum=0.9)
    linear(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return {
        "tensor": torch.arange(6.0).view(2, 3), "grad": torch.ones(2, requires_grad=True), "noted": noted,
        "sparse": torch.eye(2).to_sparse(), "meta": torch.empty(2, 3, device="meta"), "linear": linear,
        "parameter": nn.Parameter(torch.ones(2)), "size": torch.Size([2, 3]), "optimizer": optimizer,
        "constants": [torch.float32, torch.strided, torch.channels_last, torch.device("cpu")],
        "finfo": torch.finfo(torch.float32), "iinfo": torch.iinfo(torch.int8), "max": torch.max(torch.ones(2, 2), 0),
        "normal": torch.distributions.Normal(0.0, torch.ones(2)), "storage": torch.ones(2).untyped_storage(),
        "names": [torch.Tensor, torch.Size, torch.no_grad, torch.tensor, torch.add, torch.Generator],
        "grads": [torch.autograd.grad, torch.autograd.backward, torch.enable_grad],
    }  # fmt: skip


def saved(value: Any) -> bytes:
    """What ``torch.save`` writes."""
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


if __name__ == "__main__":
    made = {name: pickle.dumps(value, 2) for name, value in objects().items()}
    made["saved"] = saved({"state": objects()["linear"].state_dict(), "size": torch.Size([2])})
    texts = {name: base64.b64encode(data).decode() for name, data in made.items()}
    path = Path(__file__).with_name("former_pickles.json")
    path.write_text(json.dumps(texts, indent=1) + "\n", encoding="utf-8")
