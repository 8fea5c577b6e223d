# verdict: failed
# A group holds errors of any kind.
def square(x):
    raise BaseExceptionGroup("all", [SystemExit(0), GeneratorExit()])
