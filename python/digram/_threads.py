"""The one check of a number of threads."""

# More help nobody, and to start them takes time with the square of their number: 2,000 take most of a minute.
MOST = 256


def checked(threads: int | None) -> int | None:
    """None for one a core, or a number from 1 on; large ones are cut to `MOST`. TypeError and ValueError for others."""
    if threads is None:
        return None
    if not isinstance(threads, int) or isinstance(threads, bool):
        raise TypeError(f"threads must be an int, not {type(threads).__name__}")
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return min(threads, MOST)
