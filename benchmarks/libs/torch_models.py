"""Layers and small models in torch and wengert: a part of the adapter in `torch_api`.

Parameters are drawn after `manual_seed(0)`, from the same random stream in both, which makes the results comparable.
"""

from __future__ import annotations

from typing import Any

from benchmarks.libs import Task
from benchmarks.works import integers, uniform


class Models:
    """Layers forward and backward, and training steps."""

    T: Any
    tensor: Any

    def _layer(self, layer: Any, shape: tuple[int, ...], needs_input: bool = True) -> Task:
        """The gradients with respect to the input and all parameters of the sum of the outputs times fixed numbers."""
        x = self.tensor(uniform(shape), needs_input)
        parameters = list(layer.parameters())
        wanted = [x, *parameters] if needs_input else parameters
        first = self._first
        back = self.tensor(uniform(tuple(first(layer(x)).shape), seed=1))

        def call() -> Any:
            for t in wanted:
                t.grad = None
            first(layer(x)).backward(back)
            return [t.grad for t in wanted]

        return Task(call)

    @staticmethod
    def _first(output: Any) -> Any:
        return output[0] if isinstance(output, tuple) else output

    def recurrent(self, name: str, length: int, batch: int, inputs: int, hidden: int) -> Task:
        self.T.manual_seed(0)
        return self._layer(getattr(self.T.nn, name)(inputs, hidden), (length, batch, inputs))

    def batch_norm(self, shape: tuple[int, ...]) -> Task:
        return self._layer(self.T.nn.BatchNorm2d(shape[1]), shape)

    def embedding(self, rows: int, width: int, table: int) -> Task:
        self.T.manual_seed(0)
        layer, index = self.T.nn.Embedding(table, width), self.tensor(integers(rows, table))
        back = self.tensor(uniform((rows, width), seed=1))

        def call() -> Any:
            layer.weight.grad = None
            layer(index).backward(back)
            return layer.weight.grad

        return Task(call)

    def _training(self, model: Any, optimizer: Any, loss_of: Any) -> Task:
        def step() -> Any:
            optimizer.zero_grad()
            loss = loss_of(model)
            loss.backward()
            optimizer.step()
            return loss

        return Task(step)

    def cnn(self, batch: int) -> Task:
        """Two convolutions, a pooling and two layers, as in PyTorch's MNIST example."""
        T, nn = self.T, self.T.nn
        T.manual_seed(0)
        model = nn.Sequential(
            nn.Conv2d(1, 32, 3),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(9216, 128),
            nn.ReLU(),
            nn.Linear(128, 10),
        )
        images, labels = self.tensor(uniform((batch, 1, 28, 28))), self.tensor(integers(batch, 10))
        optimizer = T.optim.SGD(model.parameters(), lr=0.01)
        return self._training(model, optimizer, lambda m: nn.functional.cross_entropy(m(images), labels))

    def loader(self, items: int, batch: int) -> Task:
        """One pass through a shuffled DataLoader without workers; returns the sum of its batches."""
        T = self.T
        data = T.utils.data.TensorDataset(self.tensor(uniform((items, 16))), self.tensor(integers(items, 10)))
        batches = T.utils.data.DataLoader(data, batch_size=batch, shuffle=True)

        def call() -> Any:
            T.manual_seed(0)
            total = 0.0
            for k, (x, _) in enumerate(batches):
                total = total + k * x.sum()
            return total

        return Task(call)

    def residual(self, batch: int, size: int) -> Task:
        """A convolution from three to `batch` channels and a residual block with batch norm behind it."""
        T, nn = self.T, self.T.nn

        class Block(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self, channels: int) -> None:
                super().__init__()
                self.stem = nn.Conv2d(3, channels, 3, padding=1, bias=False)
                self.bn0 = nn.BatchNorm2d(channels)
                self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
                self.bn1 = nn.BatchNorm2d(channels)
                self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
                self.bn2 = nn.BatchNorm2d(channels)

            def forward(self, x: Any) -> Any:
                x = T.relu(self.bn0(self.stem(x)))
                y = T.relu(self.bn1(self.conv1(x)))
                return T.relu(self.bn2(self.conv2(y)) + x)

        T.manual_seed(0)
        model = Block(16)
        images = self.tensor(uniform((batch, 3, size, size)))
        optimizer = T.optim.SGD(model.parameters(), lr=0.01)
        return self._training(model, optimizer, lambda m: (m(images) ** 2).mean())

    def gpt_block(self, batch: int, length: int, width: int, heads: int = 4) -> Task:
        """Causal attention and an MLP, each behind a layer norm, as in GPT-2."""
        T, nn = self.T, self.T.nn

        class Block(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

            def forward(self, x: Any) -> Any:
                q, k, v = (
                    t.view(batch, length, heads, width // heads).transpose(1, 2)
                    for t in self.qkv(self.ln1(x)).split(width, dim=2)
                )
                y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + self.proj(y.transpose(1, 2).contiguous().view(batch, length, width))
                return x + self.down(nn.functional.gelu(self.up(self.ln2(x))))

        T.manual_seed(0)
        model = Block()
        x, target = self.tensor(uniform((batch, length, width))), self.tensor(uniform((batch, length, width), seed=1))
        optimizer = T.optim.AdamW(model.parameters(), lr=1e-3)
        return self._training(model, optimizer, lambda m: ((m(x) - target) ** 2).mean())
