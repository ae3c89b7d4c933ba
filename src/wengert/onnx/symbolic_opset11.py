"""``torch.onnx.symbolic_opset11``: empty, as nothing is exported; libraries import it beside what they declare."""
