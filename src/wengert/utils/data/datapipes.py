"""Says that datapipes, which PyTorch has deprecated, are not here."""

raise ImportError(
    "wengert does not have torch.utils.data.datapipes, which PyTorch has deprecated; an IterableDataset with a "
    "DataLoader does the same",
    name=__name__,
)
