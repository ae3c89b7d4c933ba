"""What the inputs and outputs of an exported program are: parameters, buffers, constants, the user's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

__all__ = [
    "ArgumentSpec", "ConstantArgument", "ExportBackwardSignature", "ExportGraphSignature", "InputKind", "InputSpec",
    "OutputKind", "OutputSpec", "SymIntArgument", "TensorArgument",
]  # fmt: skip


@dataclass
class TensorArgument:
    """A tensor, by the name of its node."""

    name: str


@dataclass
class SymIntArgument:
    """A size that is not known, by the name of its node."""

    name: str


@dataclass
class SymFloatArgument:
    """A float that is not known, by the name of its node."""

    name: str


@dataclass
class SymBoolArgument:
    """A truth value that is not known, by the name of its node."""

    name: str


@dataclass
class ConstantArgument:
    """A value that is the same in every call."""

    name: str
    value: int | float | bool | str | None


ArgumentSpec = TensorArgument | SymIntArgument | SymFloatArgument | SymBoolArgument | ConstantArgument


class InputKind(Enum):
    """What a placeholder of the graph is."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()


class OutputKind(Enum):
    """What an output of the graph is."""

    USER_OUTPUT = auto()
    LOSS_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    GRADIENT_TO_PARAMETER = auto()
    GRADIENT_TO_USER_INPUT = auto()
    USER_INPUT_MUTATION = auto()
    TOKEN = auto()


@dataclass
class InputSpec:
    """A placeholder: its kind, and for what belongs to the module its name there.

    >>> import wengert as torch
    >>> from wengert.export.graph_signature import InputKind, InputSpec, TensorArgument
    >>> print(InputSpec(InputKind.PARAMETER, TensorArgument("p_weight"), "weight"))
    p_weight: PARAMETER target='weight'
    """

    kind: InputKind
    arg: ArgumentSpec
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        persistent = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{target}{persistent}"


@dataclass
class OutputSpec:
    """An output."""

    kind: OutputKind
    arg: ArgumentSpec
    target: str | None = None

    def __str__(self) -> str:
        target = "" if self.target is None else f" target='{self.target}'"
        return f"{self.arg.name}: {self.kind.name}{target}"


@dataclass
class ExportBackwardSignature:
    """For annotations: no exported program has a backward pass."""

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str


@dataclass
class ExportGraphSignature:
    """The specifications of all inputs and outputs, in the graph's order."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _inputs(self, kind: InputKind, persistent: bool | None = None) -> dict[str, str]:
        return {
            s.arg.name: str(s.target)
            for s in self.input_specs
            if s.kind is kind and (persistent is None or s.persistent is persistent)
        }

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """The parameter of each placeholder that is one."""
        return MappingProxyType(self._inputs(InputKind.PARAMETER))

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """The buffer of each placeholder that is one."""
        return MappingProxyType(self._inputs(InputKind.BUFFER))

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """The constant of each placeholder that is one."""
        return MappingProxyType(self._inputs(InputKind.CONSTANT_TENSOR))

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(self._inputs(InputKind.PARAMETER).values())

    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of the buffers."""
        return tuple(self._inputs(InputKind.BUFFER).values())

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """The names of the buffers that are not in the state dict."""
        return tuple(self._inputs(InputKind.BUFFER, persistent=False).values())

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """The names of the constants."""
        return tuple(self._inputs(InputKind.CONSTANT_TENSOR).values())

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """The names of the user's inputs, and the values of those that are constant."""
        args = [s.arg for s in self.input_specs if s.kind is InputKind.USER_INPUT]
        return tuple([a.value if isinstance(a, ConstantArgument) else a.name for a in args])

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """The names of the outputs, and the values of those that are constant."""
        args = [s.arg for s in self.output_specs if s.kind is OutputKind.USER_OUTPUT]
        return tuple([a.value if isinstance(a, ConstantArgument) else a.name for a in args])

    def _outputs(self, kind: OutputKind) -> Mapping[str, str]:
        return MappingProxyType({s.arg.name: str(s.target) for s in self.output_specs if s.kind is kind})

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """The buffer that each output is the new value of; a program of ``export`` writes into buffers itself."""
        return self._outputs(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> Mapping[str, str]:
        """The parameter that each output is the new value of."""
        return self._outputs(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> Mapping[str, str]:
        """The user's input that each output is the new value of."""
        return self._outputs(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> None:
        """``None``."""
        return None

    @property
    def assertion_dep_token(self) -> None:
        """``None``."""
        return None

    @property
    def lifted_custom_objs(self) -> tuple[str, ...]:
        """Empty: inputs are tensors, numbers and texts."""
        return ()

    input_tokens = output_tokens = lifted_custom_objs

    @property
    def inputs_to_lifted_custom_objs(self) -> Mapping[str, str]:
        """Empty."""
        return MappingProxyType({})

    def __str__(self) -> str:
        inputs, outputs = ("\n".join(map(str, specs)) for specs in (self.input_specs, self.output_specs))
        return f"\n# inputs\n{inputs}\n\n# outputs\n{outputs}\n"
