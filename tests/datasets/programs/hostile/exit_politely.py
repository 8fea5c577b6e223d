# verdict: failed
import sys

sys.exit(0)
