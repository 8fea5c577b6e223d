# verdict: timed out
import signal


def again(*arguments):
    while True:
        pass


signal.signal(signal.SIGXCPU, again)
while True:
    try:
        again()
    except BaseException:
        pass
