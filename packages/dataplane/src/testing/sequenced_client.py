"""
A TCP connection whose sequence numbers begin where one wants: `python3 sequenced_client.py ADDRESS PORT SOURCE_PORT FIRST`.
Prints what it is greeted with. Each line of standard input is said, and the answer printed; at its end the connection is
reset.
"""
import socket
import struct
import sys

TCP_REPAIR, TCP_REPAIR_QUEUE, TCP_QUEUE_SEQ = 19, 20, 21
SEND_QUEUE = 2
TIMEOUT_S = 10

address, port, source_port, first = sys.argv[1], *map(int, sys.argv[2:])
connection = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
connection.settimeout(TIMEOUT_S)
connection.bind(("", source_port))
connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR_QUEUE, SEND_QUEUE)
connection.setsockopt(socket.IPPROTO_TCP, TCP_QUEUE_SEQ, struct.pack("I", first))
connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 0)
connection.connect((address, port))
connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
lines = connection.makefile("rw", newline="\n")
print(lines.readline().strip(), flush=True)
for text in sys.stdin:
    lines.write(text)
    lines.flush()
    print(lines.readline().strip(), flush=True)
lines.close()
connection.close()
