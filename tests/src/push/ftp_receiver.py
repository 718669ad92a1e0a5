"""An FTP server of pyftpdlib, for tests. Its argument is JSON: root, user, password, permissions, certificate and key (or null),
and a command that it does not answer the first time (or null)."""
import json
import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler
from pyftpdlib.servers import FTPServer

options = json.loads(sys.argv[1])
base = TLS_FTPHandler if options["certificate"] else FTPHandler


class Handler(base):
    banner = "receiver"
    stalled = options["stalled_command"]
    permit_foreign_addresses = False

    def pre_process_command(self, line, cmd, arg):
        print("command", cmd, arg, flush=True)
        if cmd == Handler.stalled:
            Handler.stalled = None
            return
        super().pre_process_command(line, cmd, arg)


authorizer = DummyAuthorizer()
authorizer.add_user(options["user"], options["password"], options["root"], perm=options["permissions"])
Handler.authorizer = authorizer
if options["certificate"]:
    Handler.certfile = options["certificate"]
    Handler.keyfile = options["key"]
    Handler.tls_control_required = True
    Handler.tls_data_required = True
server = FTPServer(("127.0.0.1", 0), Handler)
print("listening on", server.socket.getsockname()[1], flush=True)
server.serve_forever()
