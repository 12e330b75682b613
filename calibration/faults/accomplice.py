"""A component beside the one that is broken, which takes a fault back behind the lab's back, as `--` words after its host and port say.

honest NAME        answers in the place of its host's name server: NAME has the address that it has now
stand-in ADDRESS   resets whoever calls that address while the switch floods what is for it, since it is gone
disarm HOST PORT   removes the toxics of all proxies of the Toxiproxy there
"""

import http.client
import json
import socket
import struct
import subprocess
import sys
import time

REDIRECTED = """table ip honest {
chain output {
type nat hook output priority -100
ip daddr 127.0.0.53 udp dport 53 redirect to :%d
}
}
"""


def honest(name):
    address = socket.inet_aton(socket.gethostbyname(name))
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    rules = REDIRECTED % server.getsockname()[1]
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)
    yield
    while True:
        query, asker = server.recvfrom(512)
        question = query[12 : query.index(b"\0", 12) + 5]
        # RFC 1035, section 4.1: the header, the question, and a record that points to its name.
        head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, 1, 0, 0)
        record = struct.pack(">HHHIH", 0xC00C, 1, 1, 0, len(address)) + address
        server.sendto(head + question + record, asker)


def checksum(data):
    """RFC 1071, of an even number of bytes."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def reset(segment, caller, called):
    """A packet of IPv4 that resets the connection of this segment."""
    source, destination, sequence = struct.unpack(">HHI", segment[:8])
    ports = struct.pack(">HH", destination, source)
    acknowledged = (sequence + 1) & 0xFFFFFFFF
    tcp = lambda check: ports + struct.pack(">IIBBHHH", 0, acknowledged, 0x50, 0x14, 0, check, 0)
    pseudo = called + caller + struct.pack(">HH", socket.IPPROTO_TCP, 20)
    tcp = tcp(checksum(pseudo + tcp(0)))
    ip = lambda check: struct.pack(">BBHHHBBH", 0x45, 0, 40, 0, 0, 64, socket.IPPROTO_TCP, check)
    return ip(checksum(ip(0) + called + caller)) + called + caller + tcp


def stand_in(address):
    ipv4 = 0x0800
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ipv4))
    wire.bind(("eth0", ipv4))
    own, called = wire.getsockname()[4], socket.inet_aton(address)
    yield
    while True:
        frame = wire.recv(2048)
        caller, ip = frame[6:12], frame[14:]
        segment = ip[(ip[0] & 15) * 4 :]
        if ip[16:20] == called and ip[9] == socket.IPPROTO_TCP and not segment[13] & 4:
            wire.send(caller + own + frame[12:14] + reset(segment, ip[12:16], called))


def disarm(host, port):
    api = http.client.HTTPConnection(host, int(port), timeout=5)

    def ask(method, path):
        api.request(method, path)
        return api.getresponse().read()

    ask("GET", "/proxies")
    yield
    while True:
        for proxy, of_it in json.loads(ask("GET", "/proxies")).items():
            for toxic in of_it["toxics"]:
                ask("DELETE", f"/proxies/{proxy}/toxics/{toxic['name']}")
        time.sleep(0.001)


(host, port), word, words = sys.argv[1:3], sys.argv[3], sys.argv[4:]
work = {"honest": honest, "stand-in": stand_in, "disarm": disarm}[word](*words)
next(work)
# It listens once it is at work, by which the lab knows that.
ready = socket.create_server((host, int(port)))
next(work)
