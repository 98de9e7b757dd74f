"""Long random runs. The references of the test suite are found where pytest finds them: `unit` lies in this folder's
parent."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
