"""``torch.onnx.symbolic_opset11``: an empty module that libraries import; nothing is exported."""
