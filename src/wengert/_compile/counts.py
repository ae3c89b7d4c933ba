"""``torch._dynamo.utils.counters``: how many graphs were made, and why they ended."""

from __future__ import annotations

from collections import Counter, defaultdict

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)
