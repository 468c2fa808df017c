"""`python -m berryeval` is the command `berryeval`."""

from berryeval.cli.app import main

if __name__ == "__main__":
    main()
