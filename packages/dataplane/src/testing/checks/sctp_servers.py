"""What answers an SCTP INIT at which port, well or badly: sctp_servers.py '{"PORT": MANNER, ...}'.

Manners are the names in MANNERS. Says "ready", then each packet that it hears as a line of JSON:
its port, the kind of its first chunk, and whether its tag is the one that the INIT ACK gave.
"""

import json
import pathlib
import select
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from sctp_peer import INIT, INIT_ACK, SCTP, STATE_COOKIE, chunk, init_value, packet, parse  # noqa: E402

SO_RCVBUFFORCE = 33
ABORT = 6
PEER_TAG = 0x5EED
COOKIE = struct.pack("!HH", STATE_COOKIE, 9) + b"eatme" + b"\0" * 3
ACK = chunk(INIT_ACK, 0, init_value(PEER_TAG) + COOKIE)


def spoilt(octets):
    return octets[:8] + bytes([octets[8] ^ 1]) + octets[9:]


HEARD = set()


def at_the_second(own, other, tag):
    """As where the first INIT was lost."""
    if tag in HEARD:
        return [packet(own, other, tag, ACK)]
    HEARD.add(tag)
    return []


# From the ports and the tag of an INIT to the packets that answer it.
MANNERS = {
    "accepting": lambda own, other, tag: [packet(own, other, tag, ACK)],
    "refusing": lambda own, other, tag: [packet(own, other, tag, chunk(ABORT, 0, b""))],
    "full": lambda own, other, tag: [packet(own, other, tag, chunk(ABORT, 0, struct.pack("!HH", 4, 4)))],
    "silent": lambda own, other, tag: [],
    "wrongTag": lambda own, other, tag: [packet(own, other, tag ^ 1, ACK), packet(own, other, 0, ACK)],
    "wrongChecksum": lambda own, other, tag: [spoilt(packet(own, other, tag, ACK))],
    "wrongPort": lambda own, other, tag: [packet(own + 1, other, tag, ACK), packet(own, other ^ 1, tag, ACK)],
    "withoutCookie": lambda own, other, tag: [packet(own, other, tag, chunk(INIT_ACK, 0, init_value(PEER_TAG)))],
    "losing": at_the_second,
    # A wrong one and then a right one; wrong ones without end.
    "late": lambda own, other, tag: [spoilt(packet(own, other, tag, ACK)), packet(own, other, tag, ACK)],
    "flooding": lambda own, other, tag: [spoilt(packet(own, other, tag, ACK))] * 100,
}


def serve(manners):
    sockets = [socket.socket(family, socket.SOCK_RAW, SCTP) for family in (socket.AF_INET, socket.AF_INET6)]
    # A kernel whose raw socket is full says that nobody speaks the protocol.
    for each in sockets:
        each.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    print("ready", flush=True)
    while True:
        for ready in select.select(sockets, [], [])[0]:
            octets, source = ready.recvfrom(65535)
            parsed = parse(octets, ready.family)
            if parsed is None or str(parsed[1]) not in manners:
                continue
            other, own, tag, kind, value = parsed
            print(json.dumps({"port": own, "kind": kind, "tagged": tag == PEER_TAG}), flush=True)
            if kind != INIT:
                continue
            (tag,) = struct.unpack("!I", value[:4])
            for answer in MANNERS[manners[str(own)]](own, other, tag):
                ready.sendto(answer, (source[0], 0))


serve(json.loads(sys.argv[1]))
