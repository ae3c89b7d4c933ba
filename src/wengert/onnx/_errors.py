"""The errors of exports."""


class OnnxExporterError(RuntimeError):
    """Raised if a model cannot be exported."""

    __module__ = "wengert.onnx"


class UnsupportedOperatorError(OnnxExporterError):
    """An operator has no form in ONNX, or none that is written here."""

    __module__ = "wengert.onnx"
