# verdict: crashed
import os

os.abort()
