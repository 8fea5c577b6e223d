# verdict: failed
import threading
import time

while True:
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
