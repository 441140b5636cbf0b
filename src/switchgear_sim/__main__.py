"""``python -m switchgear_sim sm15k``."""

import sys

from switchgear_sim.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
