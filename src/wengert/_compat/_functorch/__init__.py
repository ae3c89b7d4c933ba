"""``torch._functorch``, where programs find ``torch.func``'s functions by their private place."""
