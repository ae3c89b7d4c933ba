"""REINFORCE balances a pole, the old way and the new way.

    python examples/reinforce.py

In PyTorch 0.1 a sampled action was a stochastic node of the graph: ``action.reinforce(reward)``, then ``backward()``
without a loss. Today the program writes the loss: minus the log probability of the action, times the return. Both ways
make the same draws and the same gradients, so both print the same. ``--way new`` or ``--way old`` runs one of them.
(Williams 1992; the pole is that of Barto, Sutton and Anderson 1983)
"""

import math

from common import curves, options, progress

import wengert as torch
import wengert.nn.functional as F
from wengert import nn

LONGEST = 200


class Pole:
    """A pole on a cart that is pushed left or right 50 times a second; an episode ends when it falls or runs away."""

    def reset(self):
        self.state = (torch.rand(4) * 0.1 - 0.05).tolist()
        self.age = 0
        return self.state

    def step(self, push_right):
        x, speed, angle, turning = self.state
        force = 10.0 if push_right else -10.0
        sine, cosine = math.sin(angle), math.cos(angle)
        pressed = (force + 0.05 * turning**2 * sine) / 1.1
        bending = (9.8 * sine - cosine * pressed) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        moving = pressed - 0.05 * bending * cosine / 1.1
        self.state = [x + 0.02 * speed, speed + 0.02 * moving, angle + 0.02 * turning, turning + 0.02 * bending]
        self.age += 1
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)
        return self.state, fallen or self.age == LONGEST


def returns(steps, discount=0.99):
    """The discounted sum of the future rewards at each step, normalised to mean 0 and deviation 1."""
    sums, future = [], 0.0
    for _ in range(steps):
        future = 1.0 + discount * future
        sums.insert(0, future)
    sums = torch.tensor(sums)
    return (sums - sums.mean()) / (sums.std() + 1e-8)


def play(policy, way):
    """Run one episode, accumulate the gradients of the expected return, and return the number of steps."""
    pole = Pole()
    state, done, actions, log_probabilities = pole.reset(), False, [], []
    while not done:
        probabilities = F.softmax(policy(torch.tensor([state])), dim=1)
        action = probabilities.multinomial(1)
        state, done = pole.step(action.item() == 1)
        actions.append(action)
        log_probabilities.append(probabilities.gather(1, action.detach()).log())
    if way == "old":
        for action, value in zip(actions, returns(len(actions)), strict=True):
            action.reinforce(value)
        torch.autograd.backward(actions, [None] * len(actions))
    else:
        loss = -(torch.cat(log_probabilities).squeeze(1) * returns(len(actions))).sum()
        loss.backward()
    return len(actions)


def learn(way, episodes):
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    stood = []
    for episode in progress(episodes, f"the {way} way"):
        optimizer.zero_grad()
        stood.append(play(policy, way))
        optimizer.step()
        if episode % 25 == 24:
            print(f"{way} way, episode {episode + 1:3}: stood {sum(stood[-25:]) / 25:.2f} steps on average")
    return stood


def main():
    torch.set_default_dtype(torch.float64)
    ways = ("old", "new")
    chosen = options(
        __doc__, way={"choices": (*ways, "both"), "default": "both"}, episodes={"type": int, "default": 150}
    )
    stood = {f"the {way} way": learn(way, chosen.episodes) for way in ways if chosen.way in (way, "both")}
    curves(chosen.out / "reinforce.svg", stood, "How long the pole stood", ("episode", "steps"))
    torch.set_default_dtype(torch.float32)


if __name__ == "__main__":
    main()
