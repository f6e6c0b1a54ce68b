"""
Debian's `openstack` client, loaded once. Each line of standard input asks for one command:

    {"id": 1, "argv": ["token", "issue"], "env": {"OS_TOKEN": ...}, "directory": "/tmp/..."}

A forked child runs the client's own entry point with that environment alone. Its standard input, output and error are
the files `stdin`, `stdout` and `stderr` of the directory. When it has ended, the line `ID EXITCODE` is printed.
Commands run side by side.
"""

import json
import logging
import os
import sys

from openstackclient.shell import main

def load():
    """Loads what the client loads only when a command needs it: plugins, formatters, clients of services."""
    out = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    main(["configuration", "show", "-f", "json", "--os-auth-type", "none", "--os-endpoint", "http://localhost"])
    sys.stdout.flush()
    os.dup2(out, 1)
    for fd in (out, nowhere):
        os.close(fd)
    # That command's handlers would log everything twice.
    logging.root.handlers.clear()


def run(request):
    for fd, (name, flags) in enumerate(
        (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY))
    ):
        opened = os.open(os.path.join(request["directory"], name), flags)
        os.dup2(opened, fd)
        os.close(opened)
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["openstack", *request["argv"]]
    try:
        code = main(request["argv"])
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else 0 if code is None else 1


def serve():
    ends = os.dup(1)
    for line in sys.stdin:
        # Reaps ended children, so that none stays as a zombie.
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break
        request = json.loads(line)
        if os.fork() == 0:
            code = 1
            try:
                code = run(request)
            finally:
                os.write(ends, f"{request['id']} {code}\n".encode())
                os._exit(0)


load()
serve()
