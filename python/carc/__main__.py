"""Run the command line with ``python -m carc``."""

import sys

from carc.cli import main

sys.exit(main())
