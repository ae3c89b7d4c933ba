"""``device="cuda"``."""


def connected():
    return None
