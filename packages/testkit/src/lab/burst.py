"""Sends as fast as it can, in one go, and prints how many packets left, or connections are there.

  burst.py datagrams ADDRESS PORT COUNT SIZE    of one flow
  burst.py flows ADDRESS PORT COUNT [SOURCE]    datagrams, each of a flow of its own; without SOURCE from made-up addresses
                                                of 10.77.0.0/16
  burst.py syns ADDRESS PORT COUNT [SOURCE]     requests for TCP connections, likewise
  burst.py held ADDRESS PORT COUNT              TCP connections that are silent until the program is ended; one that the
                                                other end closes is opened anew
"""

import selectors
import socket
import struct
import sys

PORTS = 60_000
FIRST_PORT = 1_024


def checksum(octets):
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def source_of(number):
    return socket.inet_aton("10.77.%d.%d" % (number >> 8 & 255, number & 255))


def segment_of(kind, source, target, source_port, port):
    if kind == "flows":
        # A checksum of 0 is none (RFC 768).
        return struct.pack("!HHHH4s", source_port, port, 12, 0, b"more")
    fields = (source_port, port, source_port, 0, 5 << 4, 2, 65_535)
    pseudo = source + target + struct.pack("!BBH", 0, socket.IPPROTO_TCP, 20)
    found = checksum(pseudo + struct.pack("!HHIIBBHHH", *fields, 0, 0))
    return struct.pack("!HHIIBBHHH", *fields, found, 0)


def many_flows(kind, address, port, count, only_source):
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    protocol = socket.IPPROTO_UDP if kind == "flows" else socket.IPPROTO_TCP
    target = socket.inet_aton(address)
    for number in range(count):
        source = socket.inet_aton(only_source) if only_source else source_of(number // PORTS)
        segment = segment_of(kind, source, target, FIRST_PORT + number % PORTS, port)
        # The kernel fills in length, identification and checksum of the header.
        header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(segment), 0, 0, 64, protocol, 0, source, target)
        raw.sendto(header + segment, (address, 0))


def one_flow(address, port, count, size):
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.connect((address, port))
    payload = b"x" * size
    for _ in range(count):
        try:
            datagrams.send(payload)
        except ConnectionRefusedError:
            pass


def hold(address, port, count):
    ready = selectors.DefaultSelector()
    for _ in range(count):
        ready.register(socket.create_connection((address, port)), selectors.EVENT_READ)
    print(count, flush=True)
    while True:
        for key, _ in ready.select():
            ready.unregister(key.fileobj)
            key.fileobj.close()
            ready.register(socket.create_connection((address, port)), selectors.EVENT_READ)


kind, address, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if kind == "datagrams":
    one_flow(address, port, count, int(sys.argv[5]))
elif kind == "held":
    hold(address, port, count)
else:
    many_flows(kind, address, port, count, sys.argv[5] if len(sys.argv) > 5 else None)
print(count)
