"""``torch._functorch``: the private modules from which programs import functions of ``torch.func``."""
