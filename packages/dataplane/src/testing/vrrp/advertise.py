"""Sends one VRRPv3 advert over IPv4: TO ROUTER_ID PRIORITY. With our marker as its address, and 20 ms as its interval."""

import socket
import struct
import sys

VRRP = 112
to, router_id, priority = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, VRRP)
raw.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
raw.connect((to, 0))
source = raw.getsockname()[0]
addresses = socket.inet_aton(f"169.254.115.{router_id}")


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def advert(total):
    return struct.pack("!BBBBHH", 0x31, router_id, priority, 1, 2, total) + addresses


pseudo = socket.inet_aton(source) + socket.inet_aton(to) + struct.pack("!BBH", 0, VRRP, len(advert(0)))
raw.send(advert(checksum(pseudo + advert(0))))
