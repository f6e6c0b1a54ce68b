"""Opens TCP connections at a rate and holds them: open_flows.py ADDRESS PORT. Lines on stdin, each answered by one:
`open COUNT RATE` says how many are open once every one was greeted, or 10 s after the last was begun;
`reset` ends all of them.
"""
import select, socket, struct, sys, time

to = (sys.argv[1], int(sys.argv[2]))
held = []

def open_all(count, rate):
    waiting = select.epoll()
    began = time.monotonic()
    greeted = 0

    def hear(seconds):
        heard = waiting.poll(seconds)
        for number, _ in heard:
            waiting.unregister(number)
        return len(heard)

    for index in range(count):
        while (left := began + index / rate - time.monotonic()) > 0:
            greeted += hear(left)
        one = socket.socket()
        one.setblocking(False)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        one.connect_ex(to)
        held.append(one)
        waiting.register(one.fileno(), select.EPOLLIN)
    until = time.monotonic() + 10
    while greeted < count and time.monotonic() < until:
        greeted += hear(0.1)
    return greeted

for line in sys.stdin:
    words = line.split()
    if words[0] == 'open':
        print(open_all(int(words[1]), int(words[2])), flush=True)
    else:
        for one in held:
            one.close()
        held = []
        print('reset', flush=True)
