"""Sends TCP segments that belong to no connection, and counts the resets that come back within a second.

stray.py SOURCE SOURCE_PORT DESTINATION PORT DSCP COUNT: prints the count of resets. Every segment has the flag ACK.
"""
import socket
import struct
import sys
import time


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def segment(source, source_port, destination, port, sequence):
    head = struct.pack("!HHIIBBHHH", source_port, port, sequence, 1, 5 << 4, 0x10, 1000, 0, 0)
    pseudo = socket.inet_aton(source) + socket.inet_aton(destination) + struct.pack("!BBH", 0, 6, len(head))
    return head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]


source, source_port, destination, port, dscp, count = sys.argv[1:]
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
raw.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(dscp) << 2)
raw.bind((source, 0))
for number in range(int(count)):
    raw.sendto(segment(source, int(source_port), destination, int(port), 1000 + number), (destination, 0))
resets = 0
until = time.monotonic() + 1
while (left := until - time.monotonic()) > 0:
    raw.settimeout(left)
    try:
        packet = raw.recv(2048)
    except TimeoutError:
        break
    head = packet[(packet[0] & 15) * 4 :]
    ports = struct.unpack("!HH", head[:4])
    if socket.inet_ntoa(packet[12:16]) == destination and ports == (int(port), int(source_port)) and head[13] & 4:
        resets += 1
print(resets)
