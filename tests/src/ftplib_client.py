"""A client with Python's ftplib, for tests. Its argument is JSON: mode, port, user, password, certificate (none for plain
FTP) and options of the mode. Prints its result as JSON."""
import ftplib
import json
import socket
import ssl
import sys

arguments = json.loads(sys.argv[1])
options = arguments["options"]
HOST = "localhost"


def create_context():
    context = ssl.create_default_context(cafile=arguments["certificate"])
    version = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}.get(options.get("tls"))
    if version:
        context.minimum_version = context.maximum_version = version
    return context


class ReusingClient(ftplib.FTP_TLS):
    """Resumes the TLS session of the control connection, which ftplib itself does not."""

    def ntransfercmd(self, cmd, rest=None):
        connection, size = ftplib.FTP.ntransfercmd(self, cmd, rest)
        return self.context.wrap_socket(connection, server_hostname=HOST, session=self.sock.session), size


def log_in(kind=ftplib.FTP_TLS, account=arguments):
    client = kind(timeout=60) if kind is ftplib.FTP else kind(timeout=60, context=create_context())
    client.connect(HOST, arguments["port"])
    client.login(account["user"], account["password"])
    if kind is not ftplib.FTP:
        client.prot_p()
    return client


def fetch(client, name):
    parts = []
    try:
        client.retrbinary("RETR " + name, parts.append)
    except ftplib.Error as error:
        return {"error": str(error), "content": b"".join(parts).decode()}
    return {"error": None, "content": b"".join(parts).decode()}


def read_all(connection):
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except OSError:
        pass
    return b"".join(parts).decode()


def attack(client, name):
    """Lets strangers of the same address connect before the client does. Returns what each of them has read."""
    owner = log_in(ReusingClient, options["stranger"])
    owner.retrlines("LIST", lambda line: None)
    host, port = client.makepasv()
    stalled = socket.create_connection((host, port))
    strangers = [socket.create_connection((host, port)) for _ in range(3)]
    own = socket.create_connection((host, port))
    client.putcmd("RETR " + name)
    greeting = client.getresp()
    contexts = [(create_context(), None), (create_context(), None), (owner.context, owner.sock.session)]
    stolen = []
    for stranger, (context, session) in zip(strangers, contexts):
        try:
            stranger = context.wrap_socket(stranger, server_hostname=HOST, session=session)
        except OSError:
            pass
        stranger.settimeout(1)
        stolen.append(stranger)
    own = client.context.wrap_socket(own, server_hostname=HOST, session=client.sock.session)
    content = read_all(own)
    own.close()
    reply = client.voidresp()
    stolen = [read_all(stranger) for stranger in stolen + [stalled]]
    return {"greeting": greeting, "content": content, "reply": reply, "stolen": stolen}


mode = arguments["mode"]
if mode == "names":
    client = log_in(ftplib.FTP)
    result = []
    for pattern in options["patterns"]:
        try:
            lines = []
            client.retrlines("LIST " + pattern, lines.append)
            result.append([client.nlst(pattern), [line.split()[-1] for line in lines]])
        except ftplib.error_perm as error:
            result.append(str(error)[:3])
elif mode == "fetch":
    client = log_in(ReusingClient if options["reuse"] else ftplib.FTP_TLS)
    result = [fetch(client, name) for name in options["names"]]
else:
    client = log_in(ReusingClient)
    client.retrlines("LIST", lambda line: None)
    result = attack(client, options["name"])
print(json.dumps(result))
