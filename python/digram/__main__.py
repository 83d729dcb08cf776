"""`python -m digram` is the command `digram`."""

from digram.cli import main

if __name__ == "__main__":
    main(prog_name="digram")
