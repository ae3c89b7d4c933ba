"""``TransformGetItemToIndex``, inside of which PyTorch's ``vmap`` takes an element by a mapped index.

Here ``x[i]`` with a mapped ``i`` is an operator anyway, so that the context changes nothing. transformers enters it
when it makes masks.
"""

from __future__ import annotations

from types import TracebackType

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex:
    """A context that changes nothing: ``x[i]`` with a mapped ``i`` needs no transforming.

    >>> import wengert as torch
    >>> from wengert._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
    >>> x = torch.tensor([10, 20, 30])
    >>> with TransformGetItemToIndex():
    ...     print(torch.func.vmap(lambda i: x[i])(torch.tensor([2, 0])))
    tensor([30, 10])
    """

    def __enter__(self) -> TransformGetItemToIndex:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None
