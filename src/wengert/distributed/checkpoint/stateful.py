"""The protocol of objects that give their state and take it back."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, runtime_checkable

__all__ = ["Stateful", "StatefulT"]


@runtime_checkable
class Stateful(Protocol):
    """An object of which a checkpoint holds ``state_dict()``; what was read is given to ``load_state_dict``."""

    def state_dict(self) -> dict[str, Any]:
        """The state."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state."""
        ...


StatefulT = TypeVar("StatefulT", bound=Stateful)
