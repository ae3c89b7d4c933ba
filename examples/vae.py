"""A variational autoencoder: digits from two numbers.

    python examples/vae.py

An encoder gives the mean and the variance of two hidden numbers for each image, and a decoder makes the image again
from a draw. The picture shows the decoder's images for a grid of the two numbers. (Kingma and Welling 2014)
"""

from common import digits, images, options, progress

import wengert as torch
import wengert.nn.functional as F
from wengert import nn


class VAE(nn.Module):
    def __init__(self, hidden=96, latent=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.Tanh())
        self.mean, self.log_variance = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, 64))

    def forward(self, x):
        h = self.encoder(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(z), mean, log_variance


def loss_of(x, logits, mean, log_variance):
    """Minus the evidence lower bound: the error of the image plus the divergence of q(z|x) from a unit normal."""
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()
    return (reconstruction + divergence) / len(x)


def main():
    chosen = options(__doc__, epochs={"type": int, "default": 30})
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    x = torch.from_numpy(digits()[0]).reshape(-1, 64).double()
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in progress(chosen.epochs, "learning"):
        total = 0.0
        for batch in x[torch.randperm(len(x))].split(96):
            optimizer.zero_grad()
            loss = loss_of(batch, *model(batch))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2}: loss {total / len(x):.2f}")

    grid = torch.linspace(-2, 2, 10)
    z = torch.cartesian_prod(grid.flip(0), grid).flip(1)
    with torch.no_grad():
        made = model.decoder(z).sigmoid().reshape(-1, 8, 8)
    images(chosen.out / "vae.svg", made.numpy(), [""] * len(made), "Digits made from two numbers")
    torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
