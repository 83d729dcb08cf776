"""The command `digram`, also as `python -m digram`."""

import sys

__all__ = ["main"]

_INTERRUPTED = 130  # what a shell says of a command that Ctrl-C ended


def main() -> None:
    """Runs the command. Ctrl-C ends it without a traceback also while its parts are loaded."""
    try:
        from digram.cli import main as command

        command(prog_name="digram")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
