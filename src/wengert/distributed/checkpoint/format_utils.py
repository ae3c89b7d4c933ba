"""Checkpoints of many processes as one file of ``torch.save``, and back."""

from __future__ import annotations

from typing import Any

import wengert as torch

from .filesystem import FileSystemReader
from .state_dict_loader import whole
from .state_dict_saver import save

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(dcp_checkpoint_dir: Any, torch_save_path: Any) -> None:
    """Write the checkpoint of a folder as one file."""
    torch.save(whole(FileSystemReader(dcp_checkpoint_dir)), torch_save_path)


def torch_save_to_dcp(torch_save_path: Any, dcp_checkpoint_dir: Any) -> None:
    """Write the state in a file as a checkpoint in a folder."""
    save(torch.load(torch_save_path, weights_only=True), checkpoint_id=dcp_checkpoint_dir, no_dist=True)
