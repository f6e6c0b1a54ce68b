"""
A firewall as an external driver: `python3 edge_firewall.py SOCKET`, in the network namespace of the device. It opens what
load balancers listen on, address by protocol by port, and closes the rest of PREFIXES. docs/external-drivers.md describes
the protocol; nft(8) stands for what the API of a device would be.
"""
import ipaddress
import json
import os
import socket
import subprocess
import sys
import threading
import time

SETS = {4: "open4", 6: "open6"}
PREFIXES = "198.51.100.16-198.51.100.250"
TABLE = f"""
table inet edge {{
  set open4 {{ type ipv4_addr . inet_proto . inet_service; }}
  set open6 {{ type ipv6_addr . inet_proto . inet_service; }}
  chain forward {{
    type filter hook forward priority 0; policy accept;
    ct state established,related accept
    ip daddr . meta l4proto . th dport @open4 accept
    ip6 daddr . meta l4proto . th dport @open6 accept
    ip daddr {PREFIXES} drop
  }}
}}
"""
TRANSPORTS = {"udp": "udp", "sctp": "sctp"}

KEEP_SECONDS = 30
"""How long what nobody has named stays open after the start: the agents of other nodes may still come."""

held = {}
"""What each agent wants open, by key of its entry. It stays when the agent goes: another one of its name comes back."""
adopted = {}
"""The same of an agent that has just come, as far as it has said it."""
named = set()
"""All that an agent has wanted open since the start."""
started = time.monotonic()
changes = 0
one_at_a_time = threading.Lock()


def nft(*argv, text=None):
    done = subprocess.run(["nft", *argv], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or "nft failed")
    return done.stdout


def openings(entry):
    """What an entry opens. What a proxy carries is TCP."""
    found = set()
    for vip in entry["vips"]:
        address = ipaddress.ip_address(vip["address"])
        for service in entry["services"]:
            transport = TRANSPORTS.get(service["protocol"], "tcp")
            found.add((SETS[address.version], f"{address} . {transport} . {int(service['port'])}"))
    return found


def present():
    """What the device has open."""
    found = set()
    for name in SETS.values():
        for item in json.loads(nft("-j", "list", "set", "inet", "edge", name))["nftables"]:
            for element in item.get("set", {}).get("elem", []):
                found.add((name, " . ".join(str(part) for part in element["concat"])))
    return found


def make_so():
    """Opens what any agent wants, and closes the rest, in one transaction; nothing if nothing differs."""
    global changes
    wanted = {opening for entries in held.values() for entry in entries.values() for opening in entry}
    named.update(wanted)
    there = present()
    unwanted = there - wanted
    if time.monotonic() < started + KEEP_SECONDS:
        unwanted &= named
    lines = [f"delete element inet edge {name} {{ {element} }}" for name, element in sorted(unwanted)]
    lines += [f"add element inet edge {name} {{ {element} }}" for name, element in sorted(wanted - there)]
    if lines:
        nft("-f", "-", text="\n".join(lines) + "\n")
        changes += 1


def apply(agent, put, remove):
    before = dict(held[agent])
    applied = []
    for one in put:
        try:
            held[agent][one["key"]] = openings(one["entry"])
            applied.append({"key": one["key"], "state": "programmed"})
        except ValueError as error:
            applied.append({"key": one["key"], "state": "failed", "reason": "FirewallRefused", "message": str(error)})
    for key in remove:
        held[agent].pop(key, None)
    try:
        make_so()
    except Exception:
        held[agent] = before
        raise
    return {"applied": applied}


def answer(agent, request):
    call = request.get("call")
    if call == "adopt":
        adopted[agent].update((one["key"], openings(one["entry"])) for one in request["entries"])
        if not request["more"]:
            held[agent] = adopted.pop(agent)
            named.update(opening for entry in held[agent].values() for opening in entry)
        return {}
    if call == "apply":
        return apply(agent, request["put"], request["remove"])
    if call == "observe":
        there = present()
        return {"lost": [key for key, wanted in held[agent].items() if not wanted <= there]}
    if call == "stats":
        return {"stats": []}
    raise ValueError(f"there is no call {call}")


def serve(connection):
    agent = None
    with connection, connection.makefile("r", encoding="utf-8") as lines:
        for line in lines:
            try:
                request = json.loads(line)
                with one_at_a_time:
                    if request.get("call") == "hello":
                        agent = request["agent"]
                        held.setdefault(agent, {})
                        adopted[agent] = {}
                        said = {"version": 1, "name": "edge-firewall", "features": []}
                    else:
                        said = answer(agent, request)
                said["counters"] = {"transactions": changes, "reloads": 0}
            except Exception as error:
                said = {"error": str(error)}
            connection.sendall((json.dumps(said) + "\n").encode())


path = sys.argv[1]
if os.path.exists(path):
    os.unlink(path)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
os.chmod(path, 0o600)
listener.listen()
if subprocess.run(["nft", "list", "table", "inet", "edge"], capture_output=True).returncode != 0:
    nft("-f", "-", text=TABLE)
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
