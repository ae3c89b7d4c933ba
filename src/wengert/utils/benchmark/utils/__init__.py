"""The parts of ``torch.utils.benchmark``, by PyTorch's names."""
