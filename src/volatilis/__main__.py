"""`python -m volatilis` is the command `volatilis`."""

from volatilis.cli import main

if __name__ == "__main__":
    main()
