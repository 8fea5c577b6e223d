# verdict: forbidden
import socket


def square(x):
    socket.getaddrinfo("example.com", 80)
    return x * x
