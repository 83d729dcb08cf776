"""The one check of a number of threads."""

from digram._numbers import whole_number

# More help nobody, and to start them takes time with the square of their number: 2,000 take most of a minute.
MOST = 256


def checked(threads: int | None) -> int | None:
    """None for one a core, or a number from 1 on; large ones are cut to `MOST`. TypeError and ValueError for others."""
    if threads is None:
        return None
    return min(whole_number("threads", threads, most=None), MOST)
