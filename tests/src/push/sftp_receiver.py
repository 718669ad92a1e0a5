"""An SFTP server of paramiko, which takes a password, for tests. Its argument is JSON: root, user, password, the prompts
of keyboard-interactive (each one with its text and whether its answer is shown), and whether it refuses stat."""
import base64
import hashlib
import json
import os
import socket
import sys
import threading

import paramiko

options = json.loads(sys.argv[1])


class Login(paramiko.ServerInterface):
    def get_allowed_auths(self, username):
        return "keyboard-interactive" if options["rounds"] else "password"

    def check_auth_password(self, username, password):
        print("login", username, flush=True)
        right = (username, password) == (options["user"], options["password"])
        return paramiko.AUTH_SUCCESSFUL if right else paramiko.AUTH_FAILED

    def check_auth_interactive(self, username, submethods):
        self.username, self.rounds = username, list(options["rounds"])
        return self.ask()

    def ask(self):
        prompts = self.rounds.pop(0)
        return paramiko.InteractiveQuery("", "", *[(text, shown) for text, shown in prompts])

    def check_auth_interactive_response(self, responses):
        if responses:
            print("login", self.username, json.dumps(responses), flush=True)
        right = all(response == options["password"] for response in responses)
        if not right or self.username != options["user"]:
            return paramiko.AUTH_FAILED
        return self.ask() if self.rounds else paramiko.AUTH_SUCCESSFUL

    def check_channel_request(self, kind, chanid):
        return paramiko.OPEN_SUCCEEDED


class Folder(paramiko.SFTPServerInterface):
    def path(self, path):
        return os.path.join(options["root"], self.canonicalize(path).lstrip("/"))

    def open(self, path, flags, attr):
        handle = paramiko.SFTPHandle(flags)
        handle.writefile = os.fdopen(os.open(self.path(path), flags, 0o600), "wb")
        return handle

    def stat(self, path):
        if options["stat_refusal"] is not None:
            return options["stat_refusal"]
        try:
            return paramiko.SFTPAttributes.from_stat(os.stat(self.path(path)))
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno)

    def remove(self, path):
        os.remove(self.path(path))
        return paramiko.SFTP_OK

    def rename(self, old, new):
        if os.path.exists(self.path(new)):
            return paramiko.SFTP_FAILURE
        os.rename(self.path(old), self.path(new))
        return paramiko.SFTP_OK


def serve(connection, key):
    transport = paramiko.Transport(connection)
    transport.add_server_key(key)
    transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Folder)
    try:
        transport.start_server(server=Login())
        transport.join()
    except (paramiko.SSHException, EOFError):
        pass


key = paramiko.ECDSAKey.generate()
listener = socket.create_server(("127.0.0.1", 0))
fingerprint = base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
print("listening on", listener.getsockname()[1], "SHA256:" + fingerprint, flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0], key), daemon=True).start()
