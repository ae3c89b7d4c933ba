"""Says that datapipes, which PyTorch has deprecated, are not here."""

raise ModuleNotFoundError(
    "No module named 'torch.utils.data.datapipes': wengert does not have datapipes, which PyTorch has deprecated; an "
    "IterableDataset with a DataLoader does the same",
    name="torch.utils.data.datapipes",
)
