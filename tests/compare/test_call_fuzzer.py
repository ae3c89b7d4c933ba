"""Wrong calls of public functions on both libraries (``call_fuzzer``): no error from inside, and mostly the same class.

``python tests/compare/call_fuzzer.py --seconds 3600`` goes on for an hour and prints what it finds.
"""

from __future__ import annotations

import collections

from compare import call_fuzzer, example_calls

SEED, CASES, STEP = 5, 4, 8  # every eighth function: some forty seconds on two busy cores


def test_no_error_comes_from_inside() -> None:
    found = call_fuzzer.run(call_fuzzer.NAMES[SEED % STEP :: STEP], SEED, CASES, 240)
    count = collections.Counter(each["kind"] for each in found)
    assert len(found) > 300
    inside = "\n".join(f"{each['call']}\n    {each['wengert']}" for each in found if each["kind"] == "inside")
    assert not inside, inside
    assert count["class"] + count["verdict"] < len(found) // 6, count


def test_no_error_comes_from_inside_of_changed_examples() -> None:
    found = call_fuzzer.run(example_calls.examples()[SEED % STEP :: STEP], SEED, CASES, 240)
    assert len(found) > 300
    inside = "\n".join(f"{each['call']}\n    {each['wengert']}" for each in found if each["kind"] == "inside")
    assert not inside, inside
    assert sum(each["kind"] in ("class", "verdict") for each in found) < len(found) // 12
