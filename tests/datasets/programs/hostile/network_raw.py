# verdict: forbidden
import socket

socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
