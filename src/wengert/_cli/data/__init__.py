"""The handwritten digits on which the tour trains: `digits.npz`, described and credited in `README.md`."""

from __future__ import annotations

from importlib import resources

import numpy as np

_TRAINING_SIZE = 1437  # four fifths of 1797


def load_digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Read the digits and split them into a training set and a test set, always in the same way.

    Returns:
        Training images (1437, 64), training labels (1437,), test images (360, 64), test labels (360,).
        Images are float32 from 0 (white) to 1 (black), eight rows of eight; labels are int64 from 0 to 9.

    Source: E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998,
    https://doi.org/10.24432/C50P49, CC BY 4.0.

    >>> images, labels, test_images, test_labels = load_digits()
    >>> images.shape, labels[:3]
    ((1437, 64), array([3, 3, 8]))
    """
    with resources.files(__name__).joinpath("digits.npz").open("rb") as file, np.load(file) as arrays:
        images = arrays["images"].reshape(-1, 64).astype(np.float32) / 16
        labels = arrays["labels"].astype(np.int64)
    # The digits are permuted, because the file is ordered by writer: a cut would test on writers that are not in the
    # training set. RandomState, not default_rng: NumPy promises that its streams never change.
    order = np.random.RandomState(1998).permutation(len(labels))
    train, test = order[:_TRAINING_SIZE], order[_TRAINING_SIZE:]
    return images[train], labels[train], images[test], labels[test]
