"""Helpers of the examples: options, a progress line, the digits, and pictures as SVG files.

The examples need only wengert and its own requirements, so this module writes the pictures by hand.
"""

from __future__ import annotations

import argparse
import base64
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

COLOURS = ("#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed")
WIDTH, HEIGHT, MARGIN = 640, 400, 56


def options(description: str, **more: Any) -> argparse.Namespace:
    """The command line of an example: ``--out FOLDER`` and its own options (``name=keywords of add_argument``)."""
    parser = argparse.ArgumentParser(description=description.strip().partition("\n")[0])
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="FOLDER", help="where the picture goes (default: .)"
    )
    for name, keywords in more.items():
        parser.add_argument(f"--{name}", **keywords)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def progress(steps: int, label: str) -> Iterator[int]:
    """``range(steps)`` with a progress line if the standard error is a terminal."""
    shown = sys.stderr.isatty()
    for step in range(steps):
        if shown and (step % max(steps // 50, 1) == 0):
            print(f"\r{label}: {step * 100 // steps:3d} %", end="", file=sys.stderr, flush=True)
        yield step
    if shown:
        print("\r" + " " * (len(label) + 8) + "\r", end="", file=sys.stderr, flush=True)


def digits() -> tuple[Any, Any, Any, Any]:
    """1437 images of handwritten digits, 8 x 8 with values from 0 to 1, their labels, and 360 test images with labels.

    The optical digits of the UCI repository, which scikit-learn ships too; they come with wengert.
    """
    from wengert._cli.data import load_digits

    return load_digits()


# ------------------------------------------------------------------------------------------------------------ pictures
def save(path: Path, body: Iterable[str], width: float = WIDTH, height: float = HEIGHT) -> None:
    """Write an SVG file and print its path."""
    lines = "\n".join(body)
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="13">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{lines}\n</svg>\n',
        encoding="utf-8",
    )
    print(f"picture: {path}")


class Axes:
    """A frame with two scales, into which lines, points and bands are drawn."""

    def __init__(self, x: Sequence[float], y: Sequence[float], title: str, labels: tuple[str, str] = ("", "")) -> None:
        self.x = (float(np.min(x)), float(np.max(x)))
        self.y = (float(np.min(y)), float(np.max(y)))
        self.names: list[str] = []
        middle, frame = WIDTH / 2, (WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN)
        turned = f'transform="rotate(-90 16 {HEIGHT / 2})"'
        self.body = [
            f'<text x="{middle}" y="28" text-anchor="middle" font-size="16">{title}</text>',
            f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">{labels[0]}</text>',
            f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" {turned}>{labels[1]}</text>',
            f'<rect x="{MARGIN}" y="{MARGIN}" width="{frame[0]}" height="{frame[1]}" fill="none" stroke="#999"/>',
        ]
        for value in np.linspace(*self.x, 5):
            at = self._at(value, self.y[0])[0]
            self.body.append(f'<text x="{at:.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{value:.3g}</text>')
        for value in np.linspace(*self.y, 5):
            at = self._at(self.x[0], value)[1]
            self.body.append(f'<text x="{MARGIN - 6}" y="{at + 4:.1f}" text-anchor="end">{value:.3g}</text>')

    def _at(self, x: float, y: float) -> tuple[float, float]:
        (x0, x1), (y0, y1) = self.x, self.y
        across = (x - x0) / (x1 - x0 or 1)
        up = (y - y0) / (y1 - y0 or 1)
        return MARGIN + across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)

    def _points(self, x: Sequence[float], y: Sequence[float]) -> str:
        return " ".join("{:.1f},{:.1f}".format(*self._at(a, b)) for a, b in zip(x, y, strict=True))

    def line(self, x: Sequence[float], y: Sequence[float], name: str = "") -> Axes:
        """A line through the points, and its name in the legend."""
        colour = COLOURS[len(self.names) % len(COLOURS)]
        self.names.append(name)
        self.body.append(f'<polyline points="{self._points(x, y)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if name:
            row = MARGIN + 18 * len(self.names)
            self.body.append(
                f'<text x="{WIDTH - MARGIN - 8}" y="{row}" text-anchor="end" fill="{colour}">{name}</text>'
            )
        return self

    def dots(self, x: Sequence[float], y: Sequence[float], colour: str = "#111") -> Axes:
        """A dot at each point."""
        for a, b in zip(x, y, strict=True):
            across, down = self._at(a, b)
            self.body.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3" fill="{colour}"/>')
        return self

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Axes:
        """The area between two curves."""
        outline = self._points(x, low) + " " + self._points(list(x)[::-1], list(high)[::-1])
        self.body.append(f'<polygon points="{outline}" fill="{COLOURS[0]}" opacity="0.18"/>')
        return self

    def save(self, path: Path) -> None:
        """Write the picture."""
        save(path, self.body)


def curves(path: Path, lines: Mapping[str, Sequence[float]], title: str, labels: tuple[str, str]) -> None:
    """A picture of one or several curves over 1, 2, 3, ..."""
    longest = max(len(values) for values in lines.values())
    axes = Axes((1, longest), np.concatenate([np.asarray(v, float) for v in lines.values()]), title, labels)
    for name, values in lines.items():
        axes.line(np.arange(1, len(values) + 1), values, name)
    axes.save(path)


def images(path: Path, pictures: Any, captions: Sequence[str], title: str, columns: int = 10, size: int = 56) -> None:
    """A picture of many small grey images, ``(n, height, width)`` from 0 (white) to 1 (black), with their captions."""
    pictures = np.asarray(pictures)
    rows = -(-len(pictures) // columns)
    line = size + (18 if any(captions) else 4)
    body = [f'<text x="{columns * (size + 4) / 2 + 8}" y="26" text-anchor="middle" font-size="16">{title}</text>']
    for i, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        left, top = 8 + i % columns * (size + 4), 40 + i // columns * line
        body.append(
            f'<image x="{left}" y="{top}" width="{size}" height="{size}" style="image-rendering: pixelated" '
            f'href="data:image/png;base64,{base64.b64encode(_png(picture)).decode()}"/>'
        )
        body.append(f'<text x="{left + size / 2}" y="{top + size + 13}" text-anchor="middle">{caption}</text>')
    save(path, body, columns * (size + 4) + 12, 44 + rows * line)


def _png(picture: Any) -> bytes:
    """A grey image as a PNG file (W3C, Portable Network Graphics, section 11)."""
    grey = (255 * (1 - np.clip(picture, 0, 1))).astype(np.uint8)
    height, width = grey.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
