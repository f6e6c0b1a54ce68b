"""An SCTP endpoint (RFC 9260) over raw sockets, for kernels without SCTP sockets.

  sctp_peer.py serve NAME PORT [AS…]  answers INIT, COOKIE ECHO and DATA, as these addresses or as whichever it has; says
                                      "ready" on stdout. The state cookie that it hands out is "NAME CLIENT-ADDRESS".
  sctp_peer.py ask ADDRESS PORT SPORT SECONDS [FROM]
                                      opens an association, sends one DATA chunk, and prints what came of it as JSON; it
                                      waits so long for each answer. Every packet that counts has a valid CRC32c.
"""

import json
import os
import select
import socket
import struct
import sys
import time

SCTP = 132
DATA, INIT, INIT_ACK, SACK, COOKIE_ECHO, COOKIE_ACK = 0, 1, 2, 3, 10, 11
STATE_COOKIE = 7


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc32c_table()


def crc32c(octets):
    crc = 0xFFFFFFFF
    for octet in octets:
        crc = TABLE[(crc ^ octet) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def chunk(kind, flags, value):
    padding = b"\0" * (-len(value) % 4)
    return struct.pack("!BBH", kind, flags, 4 + len(value)) + value + padding


def packet(sport, dport, tag, chunks):
    start, rest = struct.pack("!HHI", sport, dport, tag), chunks
    # The checksum is stored as its bytes come out, lowest first (RFC 9260 appendix A).
    return start + struct.pack("<I", crc32c(start + b"\0\0\0\0" + rest)) + rest


def parse(octets, family):
    """Source port, destination port, tag, kind of the first chunk, and its value; None for what is not valid."""
    if family == socket.AF_INET:
        octets = octets[(octets[0] & 15) * 4 :]
    if len(octets) < 16:
        return None
    sport, dport, tag = struct.unpack("!HHI", octets[:8])
    (checksum,) = struct.unpack("<I", octets[8:12])
    if checksum != crc32c(octets[:8] + b"\0\0\0\0" + octets[12:]):
        return None
    kind, _, length = struct.unpack("!BBH", octets[12:16])
    return sport, dport, tag, kind, octets[16 : 12 + length]


def init_value(tag):
    return struct.pack("!IIHHI", tag, 65535, 1, 1, 1)


def answer(name, client, kind, value, tags):
    """The tag and chunk that answer a client's chunk; None for none."""
    if kind == INIT:
        (tags[client],) = struct.unpack("!I", value[:4])
        cookie = f"{name} {client[0]}".encode()
        parameter = struct.pack("!HH", STATE_COOKIE, 4 + len(cookie)) + cookie
        return chunk(INIT_ACK, 0, init_value(0x5EED) + parameter + b"\0" * (-len(cookie) % 4))
    if client not in tags:
        return None
    if kind == COOKIE_ECHO:
        return chunk(COOKIE_ACK, 0, b"")
    if kind == DATA:
        return chunk(SACK, 0, value[:4] + struct.pack("!IHH", 65535, 0, 0))
    return None


def serve(name, port, addresses):
    sockets = []
    for address in addresses or ["0.0.0.0", "::"]:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sockets.append(socket.socket(family, socket.SOCK_RAW, SCTP))
        sockets[-1].bind((address, 0))
    tags = {}
    print("ready", flush=True)
    while True:
        for ready in select.select(sockets, [], [])[0]:
            octets, source = ready.recvfrom(65535)
            parsed = parse(octets, ready.family)
            if parsed is None or parsed[1] != port:
                continue
            client = (source[0], parsed[0])
            chunks = answer(name, client, parsed[3], parsed[4], tags)
            if chunks is not None:
                ready.sendto(packet(port, client[1], tags[client], chunks), (source[0], 0))


def ask(address, port, sport, seconds, own=None):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    endpoint = socket.socket(family, socket.SOCK_RAW, SCTP)
    if own is not None:
        endpoint.bind((own, 0))
    tag = struct.unpack("!I", os.urandom(4))[0] | 1

    def exchange(to_tag, chunks, wanted):
        endpoint.sendto(packet(sport, port, to_tag, chunks), (address, 0))
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([endpoint], [], [], left)[0]:
                raise TimeoutError(wanted)
            octets, source = endpoint.recvfrom(65535)
            parsed = parse(octets, family)
            if parsed is None or parsed[1] != sport or parsed[2] != tag or parsed[3] != wanted:
                continue
            return source[0], parsed[0], parsed[4]

    try:
        source, from_port, value = exchange(0, chunk(INIT, 0, init_value(tag)), INIT_ACK)
        (peer_tag,) = struct.unpack("!I", value[:4])
        length = struct.unpack("!H", value[18:20])[0]
        cookie = value[20 : 16 + length]
        exchange(peer_tag, chunk(COOKIE_ECHO, 0, cookie), COOKIE_ACK)
        exchange(peer_tag, chunk(DATA, 3, struct.pack("!IHHI", 1, 0, 0, 0) + b"hello"), SACK)
        print(json.dumps({"from": source, "port": from_port, "line": cookie.decode()}))
    except (TimeoutError, OSError) as error:
        print(json.dumps({"error": type(error).__name__, "waitedFor": str(error)}))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    else:
        ask(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), *sys.argv[6:])
