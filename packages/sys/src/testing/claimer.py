"""
A host that claims an address: `python3 claimer.py DEV KIND ADDRESS MAC [COUNT]`, KIND arp-request, arp-reply, advertisement
or solicitation, sent COUNT times without a pause, or once; `python3 claimer.py DEV flood ADDRESS...` sends 50 ARP requests for each.
"""
import ipaddress
import socket
import struct
import sys

EVERYBODY = b"\xff" * 6
FORGED = bytes.fromhex("020000000095")
dev, kind, *words = sys.argv[1:]
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
wire.bind((dev, 0))


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def arp(operation, mac, address):
    sender = mac + address.packed
    return EVERYBODY + mac + struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, operation) + sender + b"\0" * 6 + address.packed


def neighbour(kind, mac, address):
    everybody = ipaddress.ip_address("ff02::1")
    code, flags, option = (136, 0x20000000, 2) if kind == "advertisement" else (135, 0, 1)
    target = address if code == 136 else ipaddress.ip_address("fd77::1234")
    message = struct.pack("!BBHI", code, 0, 0, flags) + target.packed + bytes([option, 1]) + mac
    pseudo = address.packed + everybody.packed + struct.pack("!II", len(message), 58)
    message = message[:2] + struct.pack("!H", checksum(pseudo + message)) + message[4:]
    head = struct.pack("!IHBB", 6 << 28, len(message), 58, 255) + address.packed + everybody.packed
    return b"\x33\x33\0\0\0\1" + mac + struct.pack("!H", 0x86DD) + head + message


if kind == "flood":
    frames = [arp(1, FORGED, ipaddress.ip_address(word)) for word in words]
    for _ in range(50):
        for frame in frames:
            wire.send(frame)
else:
    address, mac = ipaddress.ip_address(words[0]), bytes.fromhex(words[1].replace(":", ""))
    frame = arp(1 if kind == "arp-request" else 2, mac, address) if kind.startswith("arp") else neighbour(kind, mac, address)
    for _ in range(int(words[2]) if len(words) > 2 else 1):
        wire.send(frame)
