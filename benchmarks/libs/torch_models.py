"""Layers and small models in torch and wengert: a part of the adapter in `torch_api`.

Parameters begin as `works.drawn` has them, as in every library, which makes the results comparable.
"""

from __future__ import annotations

from typing import Any

from benchmarks.libs import Task
from benchmarks.works import drawn, integers, uniform


class Models:
    """Layers forward and backward, and training steps."""

    T: Any
    tensor: Any

    def begun(self, model: Any) -> Any:
        """The model with its first parameters."""
        with self.T.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(self.tensor(drawn(name, tuple(parameter.shape))))
        return model

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
        return self._layer(self.begun(getattr(self.T.nn, name)(inputs, hidden)), (length, batch, inputs))

    def batch_norm(self, shape: tuple[int, ...]) -> Task:
        return self._layer(self.T.nn.BatchNorm2d(shape[1]), shape)

    def embedding(self, rows: int, width: int, table: int) -> Task:
        layer, index = self.begun(self.T.nn.Embedding(table, width)), self.tensor(integers(rows, table))
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
        optimizer = T.optim.SGD(self.begun(model).parameters(), lr=0.01)
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

        model = self.begun(Block(16))
        images = self.tensor(uniform((batch, 3, size, size)))
        optimizer = T.optim.SGD(model.parameters(), lr=0.01)
        return self._training(model, optimizer, lambda m: (m(images) ** 2).mean())

    def _block(self, width: int, heads: int, approximate: str) -> Any:
        nn = self.T.nn

        class Block(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

            def forward(self, x: Any) -> Any:
                batch, length, _ = x.shape
                q, k, v = (
                    t.view(batch, length, heads, width // heads).transpose(1, 2)
                    for t in self.qkv(self.ln1(x)).split(width, dim=2)
                )
                y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
                x = x + self.proj(y.transpose(1, 2).contiguous().view(batch, length, width))
                hidden = nn.functional.gelu(self.up(self.ln2(x)), approximate=approximate)
                return x + self.down(hidden)

        return Block()

    def gpt_block(self, batch: int, length: int, width: int, heads: int = 4) -> Task:
        """Causal attention and an MLP, each behind a layer norm, as in GPT-2."""
        model = self.begun(self._block(width, heads, "none"))
        x, target = self.tensor(uniform((batch, length, width))), self.tensor(uniform((batch, length, width), seed=1))
        optimizer = self.T.optim.AdamW(model.parameters(), lr=1e-3)
        return self._training(model, optimizer, lambda m: ((m(x) - target) ** 2).mean())

    def resnet18(self, batch: int, size: int) -> Task:
        """torchvision's ResNet-18, and the step of its training script."""
        T, nn = self.T, self.T.nn

        class Block(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self, before: int, width: int) -> None:
                super().__init__()
                stride = 1 if before == width else 2
                self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
                self.bn1, self.relu = nn.BatchNorm2d(width), nn.ReLU(inplace=True)
                self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
                self.bn2 = nn.BatchNorm2d(width)
                self.downsample = None
                if stride == 2:
                    conv = nn.Conv2d(before, width, 1, stride, bias=False)
                    self.downsample = nn.Sequential(conv, nn.BatchNorm2d(width))

            def forward(self, x: Any) -> Any:
                y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
                y += x if self.downsample is None else self.downsample(x)
                return self.relu(y)

        class ResNet(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
                self.bn1, self.relu = nn.BatchNorm2d(64), nn.ReLU(inplace=True)
                self.maxpool = nn.MaxPool2d(3, 2, 1)
                self.layer1 = nn.Sequential(Block(64, 64), Block(64, 64))
                self.layer2 = nn.Sequential(Block(64, 128), Block(128, 128))
                self.layer3 = nn.Sequential(Block(128, 256), Block(256, 256))
                self.layer4 = nn.Sequential(Block(256, 512), Block(512, 512))
                self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(512, 1000)

            def forward(self, x: Any) -> Any:
                x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
                x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
                return self.fc(T.flatten(self.avgpool(x), 1))

        model = self.begun(ResNet())
        images, labels = self.tensor(uniform((batch, 3, size, size))), self.tensor(integers(batch, 1000))
        optimizer = T.optim.SGD(model.parameters(), lr=0.001, momentum=0.9, weight_decay=1e-4)
        return self._training(model, optimizer, lambda m: nn.functional.cross_entropy(m(images), labels))

    def gpt2(self, batch: int, length: int, layers: int, heads: int, width: int, words: int) -> Task:
        """GPT-2 with the step of nanoGPT's training script, without dropout."""
        T, nn = self.T, self.T.nn
        blocks = [self._block(width, heads, "tanh") for _ in range(layers)]

        class GPT(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(1024, width)
                self.h, self.ln = nn.ModuleList(blocks), nn.LayerNorm(width)
                self.head = nn.Linear(width, words, bias=False)
                self.wte.weight = self.head.weight

            def forward(self, tokens: Any) -> Any:
                x = self.wte(tokens) + self.wpe(T.arange(tokens.shape[1]))
                for block in self.h:
                    x = block(x)
                return self.head(self.ln(x))

        model = self.begun(GPT())
        text = self.tensor(integers(batch * (length + 1), words).reshape(batch, length + 1))
        inputs, targets = text[:, :-1].contiguous(), text[:, 1:].reshape(-1)
        optimizer = T.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
        return self._training(
            model, optimizer, lambda m: nn.functional.cross_entropy(m(inputs).view(-1, words), targets)
        )
