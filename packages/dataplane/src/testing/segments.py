"""
Sends TCP segments that belong to no connection: `python3 segments.py JSON`, JSON a list of {"source", "sourcePort",
"destination", "port", "flags"}; flags as letters of FSRPAU. The source is an address of this host.
"""
import json
import socket
import struct
import sys

BITS = {letter: 1 << at for at, letter in enumerate("FSRPAU")}
IPV6_CHECKSUM = 7


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


for each in json.loads(sys.argv[1]):
    source, destination = each["source"], each["destination"]
    flags = sum(BITS[letter] for letter in each["flags"])
    head = struct.pack("!HHIIBBHHH", each["sourcePort"], each["port"], 1000, 1, 5 << 4, flags, 1000, 0, 0)
    if ":" in source:
        raw = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_TCP)
        raw.setsockopt(socket.IPPROTO_IPV6, IPV6_CHECKSUM, 16)
    else:
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
        pseudo = socket.inet_aton(source) + socket.inet_aton(destination) + struct.pack("!BBH", 0, 6, len(head))
        head = head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]
    with raw:
        raw.bind((source, 0))
        raw.sendto(head, (destination, 0))
