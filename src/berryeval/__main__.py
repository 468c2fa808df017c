"""`python -m berryeval` is the command `berryeval`."""

from berryeval.cli import main

if __name__ == "__main__":
    main()
