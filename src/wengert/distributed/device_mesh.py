"""``torch.distributed.device_mesh``: ranks in a grid, with a group along each dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._base.errors import noted
from .._tape.tensor import Tensor, wrap
from . import _groups, _mpi
from ._process_group import ProcessGroup

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks in a grid. ``mesh`` is an array of ranks; each rank has a group along each dimension.

    Every rank of the program makes it, in the same order. ``mesh["name"]`` is the part along a named dimension that
    this rank is in.
    """

    def __init__(
        self, device_type: str, mesh: Any, *, mesh_dim_names: tuple[str, ...] | None = None,
        backend_override: Any = None, _init_backend: bool = True, _rank: int | None = None,
    ) -> None:  # fmt: skip
        self.device_type = device_type
        ranks = np.asarray(mesh.numpy() if isinstance(mesh, Tensor) else mesh, np.int64)
        if mesh_dim_names is not None and len(mesh_dim_names) != ranks.ndim:
            raise RuntimeError(
                "mesh_dim_names must have same length as mesh_shape, but got "
                f"{len(mesh_dim_names)} names for {ranks.ndim} dimensions"
            )
        if len(np.unique(ranks)) != ranks.size:
            raise RuntimeError(f"DeviceMesh cannot have duplicate values, but found {ranks.tolist()}")
        if not _groups.is_initialized():
            _groups.init_process_group()
        if ranks.size > _groups.get_world_size():
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {_groups.get_world_size()}, but found {ranks.size} "
                "ranks!"
            )
        self._ranks, self.mesh_dim_names = ranks, None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._find()
        self._dim_groups: list[Any] = self._make_groups() if _init_backend else []
        self._parts: dict[tuple[str, ...], DeviceMesh] = {}

    def _find(self) -> None:
        there = np.argwhere(self._ranks == _groups.get_rank())
        self._coordinate: tuple[int, ...] | None = tuple(there[0].tolist()) if len(there) else None

    def _make_groups(self) -> list[Any]:
        world = _groups._get_default_group()
        if self._ranks.ndim == 1 and self._ranks.tolist() == world._ranks:
            return [world]
        found = []
        for dim in range(self._ranks.ndim):
            name = self.mesh_dim_names[dim] if self.mesh_dim_names else f"dim_{dim}"
            mine = None
            for row in np.moveaxis(self._ranks, dim, -1).reshape(-1, self._ranks.shape[dim]).tolist():
                group = _groups.new_group(row, group_desc=f"mesh_{name}")
                mine = group if isinstance(group, ProcessGroup) else mine
            found.append(mine)
        return found

    @classmethod
    def from_group(
        cls, group: Any, device_type: str, mesh: Any = None, *, mesh_dim_names: tuple[str, ...] | None = None
    ) -> DeviceMesh:
        """A mesh on groups that are there."""
        groups = list(group) if isinstance(group, (list, tuple)) else [group]
        if mesh is None:
            if len(groups) > 1:
                raise ValueError("Must pass mesh if passing multiple ProcessGroups")
            mesh = groups[0]._ranks
        made = cls(device_type, mesh, mesh_dim_names=mesh_dim_names, _init_backend=False)
        made._dim_groups = groups
        return made

    @property
    def mesh(self) -> Tensor:
        """The ranks, as a tensor."""
        return wrap(self._ranks.astype(np.int32))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._ranks.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return self._ranks.shape

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of ranks, in all or along a dimension."""
        return self._ranks.size if mesh_dim is None else self._ranks.shape[mesh_dim]

    def _dim(self, mesh_dim: int | str | None) -> int:
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions",
                    "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
                    "If you want to get the list of all the ProcessGroups in the DeviceMesh,please use "
                    "`get_all_groups()` instead.",
                )
            return 0
        if isinstance(mesh_dim, str):
            known = list(self.mesh_dim_names or ())
            if mesh_dim not in known:
                raise KeyError(f"Invalid mesh_dim_names {(mesh_dim,)} specified. Valid mesh_dim_names are {known}.")
            return known.index(mesh_dim)
        return mesh_dim

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """This rank's group along a dimension."""
        return self._dim_groups[self._dim(mesh_dim)]

    def get_all_groups(self) -> list[ProcessGroup]:
        """This rank's groups along all dimensions."""
        return list(self._dim_groups)

    def get_rank(self) -> int:
        """This rank in the world."""
        return _groups.get_rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """This rank's place along a dimension."""
        return _groups.get_rank(self.get_group(mesh_dim))

    def get_coordinate(self) -> tuple[int, ...] | None:
        """This rank's place in the grid, or None."""
        return self._coordinate

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (names,) if isinstance(names, str) else tuple(names)
        if names == self.mesh_dim_names:
            return self
        if names in self._parts:
            return self._parts[names]
        dims = [self._dim(name) for name in names]
        if dims != sorted(dims):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. The mesh dim indices should be ascending.")
        at = self._coordinate or (0,) * self.ndim
        index = tuple(slice(None) if i in dims else at[i] for i in range(self.ndim))
        part = DeviceMesh(self.device_type, self._ranks[index], mesh_dim_names=names, _init_backend=False)
        part._dim_groups = [self._dim_groups[i] for i in dims]
        self._parts[names] = part
        return part

    def _flatten(self, mesh_dim_name: str | None = None) -> DeviceMesh:
        """The mesh as one dimension, which is then one of its names."""
        name = mesh_dim_name or "_".join(self.mesh_dim_names or ("flat",))
        if (name,) not in self._parts:
            flat = DeviceMesh(self.device_type, self._ranks.reshape(-1), mesh_dim_names=(name,))
            self._parts[name,] = flat
        return self._parts[name,]

    def __enter__(self) -> DeviceMesh:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing ends with the block."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Any:
        return self.device_type, self.mesh_dim_names, self.shape, tuple(self._ranks.reshape(-1).tolist())

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n}={s}" for n, s in zip(self.mesh_dim_names or (), self.shape, strict=False))
        shown = f"({sizes})" if self.mesh_dim_names else str(self.shape)
        strides = tuple(s // self._ranks.itemsize for s in self._ranks.strides)
        return f"DeviceMesh({shown}, '{self.device_type}', stride={strides})"


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:  # fmt: skip
    """All ranks in a grid of this shape.

    Raises:
        RuntimeError: mpi4py is not installed, or there are not as many ranks.
    """
    if not _mpi.is_installed():
        raise _mpi.missing("init_device_mesh")
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                "Each mesh_dim_name must be unique.",
                f"Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}",
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length!",
                f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}.",
            )
    if device_type and not device_type.isalpha():
        raise noted(
            RuntimeError(f"Device type with index is not supported but got {device_type}. "),
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    ranks = np.arange(math.prod(mesh_shape)).reshape(mesh_shape)
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)
