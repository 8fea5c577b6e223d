# verdict: crashed
import os

os.closerange(0, 1024)
