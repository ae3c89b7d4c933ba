"""``SummaryWriter`` with PyTorch's signatures, which converts tensors to NumPy arrays for tensorboardX's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._base.errors import noted
from ..._tape.tensor import Tensor

try:
    import tensorboardX
    from tensorboardX import FileWriter, RecordWriter
    from tensorboardX.proto.event_pb2 import Event, SessionLog
    from tensorboardX.proto.summary_pb2 import Summary, SummaryMetadata
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"No module named {error.name!r}, which torch.utils.tensorboard needs. What to do: pip install "
        "'wengert[tensorboard]'",
        name=error.name,
    ) from None

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]


def as_arrays(x: Any) -> Any:
    """Convert tensors, also inside containers, to NumPy arrays (bfloat16 to float32); keep other objects unchanged."""
    if isinstance(x, Tensor):
        x = x.detach()
        return (x.float() if x.dtype.itemsize == 2 and x.is_floating_point() else x).numpy()
    if type(x) in (list, tuple):
        return type(x)([as_arrays(each) for each in x])
    if type(x) is dict:
        return {key: as_arrays(value) for key, value in x.items()}
    return x


def _refuse(what: str) -> NotImplementedError:
    return noted(
        NotImplementedError(f"SummaryWriter: {what} is not supported by wengert"),
        "Why: tensorboardX, which writes the files here, does not have it.",
    )


class SummaryWriter(tensorboardX.SummaryWriter):
    """Writes scalars, histograms, images, texts, ... for TensorBoard to show.

    Args:
        log_dir: the folder of the files; by default ``runs/`` followed by the date, the host's name and ``comment``.
        comment: the end of the default ``log_dir``.
        purge_step: hide entries of this step and later ones that were written before a crash.
        max_queue: the number of entries to collect before they are written.
        flush_secs: the seconds after which entries are written anyway.
        filename_suffix: the end of every file's name.

    Methods and arguments are PyTorch's. All methods accept tensors and NumPy arrays.

    Raises:
        NotImplementedError: ``add_graph``, ``double_precision``, ``hparam_domain_discrete``, ``rescale``.

    Example (needs the extra)::

        writer = torch.utils.tensorboard.SummaryWriter("runs/first")
        writer.add_scalar("loss", loss, step)
        writer.close()
    """

    purge_step: int | None

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        super().__init__(
            None if log_dir is None else str(log_dir), comment, purge_step, max_queue, flush_secs, filename_suffix
        )
        self.log_dir = self.logdir
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix

    def _get_file_writer(self) -> Any:
        if self.all_writers is None or self.file_writer is None:
            step, self.purge_step = self.purge_step, None
            super()._get_file_writer()
            if step is not None:
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=step, session_log=SessionLog(status=SessionLog.START)))
        return self.file_writer

    def get_logdir(self) -> str:
        """Where the files go."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A number of a step, in float32; ``new_style`` writes it as a tensor, which TensorBoard loads faster."""
        if double_precision:
            raise _refuse("double_precision")
        if not new_style:
            super().add_scalar(tag, as_arrays(scalar_value), global_step, walltime)
            return
        value = np.float32(np.asarray(as_arrays(scalar_value)).item())
        metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
        self._add_tensor(tag, np.asarray(value), metadata, global_step, walltime)

    def add_tensor(
        self, tag: str, tensor: Tensor, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """A whole tensor."""
        metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="tensor"))
        self._add_tensor(tag, as_arrays(tensor), metadata, global_step, walltime)

    def _add_tensor(self, tag: str, a: np.ndarray, metadata: Any, step: int | None, walltime: float | None) -> None:
        from tensorboardX.proto.tensor_pb2 import TensorProto
        from tensorboardX.proto.tensor_shape_pb2 import TensorShapeProto

        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in a.shape])
        kind = _PROTO_TYPES.get(a.dtype.name)
        if kind is None:
            raise _refuse(f"a tensor of {a.dtype}")
        proto = TensorProto(dtype=kind, tensor_shape=shape, tensor_content=np.ascontiguousarray(a).tobytes())
        summary = Summary(value=[Summary.Value(tag=tag, metadata=metadata, tensor=proto)])
        self._get_file_writer().add_summary(summary, step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Write the hyperparameters of a run and its metrics, to a folder ``run_name`` in ``log_dir``."""
        if hparam_domain_discrete is not None:
            raise _refuse("hparam_domain_discrete")
        super().add_hparams(as_arrays(hparam_dict), as_arrays(metric_dict), run_name, global_step)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """An image with rectangles in it."""
        if rescale != 1:
            raise _refuse("rescale")
        image, boxes = as_arrays(img_tensor), as_arrays(box_tensor)
        super().add_image_with_boxes(tag, image, boxes, global_step, walltime, dataformats, labels)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Not there: NotImplementedError."""
        raise noted(
            NotImplementedError("SummaryWriter.add_graph is not supported by wengert"),
            "Why: it shows what torch.jit.trace records, and there is no such recorder here.",
        )


_PROTO_TYPES = {
    name: number
    for number, name in enumerate(
        ("float32", "float64", "int32", "uint8", "int16", "int8", "", "complex64", "int64", "bool"), start=1
    )
    if name
}
"""The numbers of TensorFlow's ``DataType``, by NumPy's names."""


def _with_arrays(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *as_arrays(args), **as_arrays(kwargs))

    return call


for _name, _method in vars(tensorboardX.SummaryWriter).items():
    if _name.startswith("add_") and _name not in vars(SummaryWriter):
        setattr(SummaryWriter, _name, _with_arrays(_method))
