"""`make bench [ONLY=name]`: peers run side by side in the same run, so ratios mean something on any machine."""

import sys

from tests.report import main

sys.exit(main("tests.bench", "bench.json", sys.argv[1:]))
