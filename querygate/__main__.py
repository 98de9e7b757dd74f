"""`python -m querygate` is the command line."""

from querygate.cli import main

if __name__ == "__main__":
    main(prog_name="querygate")
