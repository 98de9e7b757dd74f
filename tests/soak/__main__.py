"""`make soak [ONLY=name]`: long random and fault tests, each printing what it tried and what it found."""

import sys

from tests.report import main

sys.exit(main("tests.soak", "soak.json", sys.argv[1:]))
