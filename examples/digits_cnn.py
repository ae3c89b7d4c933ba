"""A convolutional network learns to read handwritten digits, fed by a DataLoader.

    python examples/digits_cnn.py

It prints the loss and the share of test digits that are read correctly, and draws the misread digits.
"""

from common import digits, images, options, progress

import wengert as torch
from wengert import nn
from wengert.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classify = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 4 * 4, 10))

    def forward(self, x):
        return self.classify(self.features(x))


def main():
    chosen = options(__doc__, epochs={"type": int, "default": 4})
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    x, y, test_x, test_y = (torch.from_numpy(a) for a in digits())
    x, test_x = (a.reshape(-1, 1, 8, 8).double() for a in (x, test_x))
    net = Net()
    print(net)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    loss_of = nn.CrossEntropyLoss()

    for epoch in range(chosen.epochs):
        net.train()
        total = 0.0
        batches = iter(loader)
        for _ in progress(len(loader), f"epoch {epoch + 1}"):
            images_, labels = next(batches)
            optimizer.zero_grad()
            loss = loss_of(net(images_), labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        net.eval()
        with torch.no_grad():
            guesses = net(test_x).argmax(1)
        right = (guesses == test_y).float().mean().item()
        print(f"epoch {epoch + 1}: loss {total / len(x):.3f}, {right:.1%} of the test digits read right")

    wrong = (guesses != test_y).nonzero().squeeze(1)[:20]
    captions = [f"{test_y[i].item()} as {guesses[i].item()}" for i in wrong]
    images(chosen.out / "digits_cnn.svg", test_x[wrong].squeeze(1).numpy(), captions, "Misread digits", columns=5)
    torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
