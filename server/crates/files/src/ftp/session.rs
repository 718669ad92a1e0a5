//! A session: the commands of one client, one after the other.

use std::borrow::Cow;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use jiff::civil::Date;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_gateway::Failure;
use tillgate_net::shares::Place;
use tillgate_store::settlement::reconciliation_file::StoredFile;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::FtpServer;
use super::command::{Command, FolderPath, MAX_LINE};
use super::data::{DataConnection, DataFault, DataTls, accept_data, listen_passive};
use super::listing::{ListingForm, format_facts, format_listing, format_time};
use super::login::{LoggedIn, LoginRefusal};
use super::pattern::{fits_pattern, is_pattern};
use super::tls::SessionTls;
use super::transfer::TransferFault;

/// Maximum time until a client has logged in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum time of a TLS handshake, and for a client to receive a reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(15);
/// Number of wrong passwords or refused commands after which a session ends.
const MAX_FAULTS: u32 = 10;

/// The control connection, plain or with TLS.
trait ControlStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ControlStream for S {}

type Control = BufReader<Box<dyn ControlStream>>;

/// A reply: its code and its text, which may have several lines.
struct Reply(u16, Cow<'static, str>);

impl Reply {
    fn new(code: u16, text: impl Into<Cow<'static, str>>) -> Self {
        Self(code, text.into())
    }
}

/// Consequence of a command.
enum Next {
    /// The session goes on.
    GoOn,
    /// The session ends.
    End,
    /// The control connection continues with TLS.
    StartTls,
}

/// A client's session.
pub(super) struct Session {
    server: Arc<FtpServer>,
    peer: SocketAddr,
    /// The address to which the client has connected.
    local: Option<IpAddr>,
    /// TLS of this session. `None` if the control connection is not encrypted.
    tls: Option<SessionTls>,
    /// True if data connections use TLS.
    protects_data: bool,
    /// The name of the latest `USER`.
    name: Option<String>,
    user: Option<LoggedIn>,
    passive: Option<(TcpListener, Place)>,
    /// The position of the next `RETR`.
    position: u64,
    faults: u32,
    _place: Place,
}

impl Session {
    pub(super) fn new(server: Arc<FtpServer>, peer: SocketAddr, place: Place) -> Self {
        Self {
            server,
            peer,
            local: None,
            tls: None,
            protects_data: false,
            name: None,
            user: None,
            passive: None,
            position: 0,
            faults: 0,
            _place: place,
        }
    }

    /// Answers the client's commands until it disconnects, quits, is idle for too long, or makes too many faults.
    pub(super) async fn run(mut self, stream: TcpStream) {
        self.local = stream.local_addr().ok().map(|address| address.ip());
        let _ = stream.set_nodelay(true);
        let mut control: Control = BufReader::new(Box::new(stream));
        let deadline = tokio::time::Instant::now() + LOGIN_TIMEOUT;
        if send_reply(&mut control, &Reply::new(220, "Reconciliation files, read only.")).await.is_err() {
            return;
        }
        loop {
            let limit = match self.user {
                Some(_) => self.server.options.idle_timeout,
                None => deadline.saturating_duration_since(tokio::time::Instant::now()),
            };
            let line = match timeout(limit, read_line(&mut control)).await {
                Ok(Ok(Some(line))) => line,
                Ok(Ok(None) | Err(_)) => return,
                Err(_) => {
                    let _ = send_reply(&mut control, &Reply::new(421, "No command for too long.")).await;
                    return;
                }
            };
            match self.answer_line(&mut control, &line).await {
                Ok(Next::GoOn) => {}
                Ok(Next::End) | Err(_) => return,
                Ok(Next::StartTls) => match self.start_tls(control).await {
                    Some(encrypted) => control = encrypted,
                    None => return,
                },
            }
        }
    }

    /// Encrypts the control connection. Returns `None` if that fails, or if the client has sent commands before the
    /// handshake, which somebody else may have inserted.
    async fn start_tls(&mut self, control: Control) -> Option<Control> {
        let tls = self.server.options.tls.as_ref().filter(|_| control.buffer().is_empty())?.create_session().ok()?;
        let stream = timeout(REPLY_TIMEOUT, tls.acceptor().accept(control.into_inner())).await.ok()?.ok()?;
        (self.tls, self.protects_data) = (Some(tls), false);
        (self.name, self.user, self.passive) = (None, None, None);
        Some(BufReader::new(Box::new(stream)))
    }

    /// Carries out a line and sends its replies.
    async fn answer_line(&mut self, control: &mut Control, line: &str) -> io::Result<Next> {
        let command = Command::parse(line);
        let (reply, next) = match &command {
            Command::Quit => (Reply::new(221, "Goodbye."), Next::End),
            Command::Auth(kind) => self.answer_auth(kind),
            command if self.user.is_none() => (self.answer_stranger(command).await, Next::GoOn),
            Command::List { .. } | Command::Mlsd(_) | Command::Retr(_) => {
                (self.transfer(control, &command).await?, Next::GoOn)
            }
            command => (self.answer_user(command).await, Next::GoOn),
        };
        self.faults += u32::from(matches!(reply.0, 500..=504 | 530));
        send_reply(control, &reply).await?;
        if self.faults > MAX_FAULTS || reply.0 == 421 {
            return Ok(Next::End);
        }
        Ok(next)
    }

    /// Answers `AUTH`.
    fn answer_auth(&self, kind: &str) -> (Reply, Next) {
        if self.server.options.tls.is_none() || self.tls.is_some() {
            return (Reply::new(503, "TLS is not possible now."), Next::GoOn);
        }
        match kind.to_ascii_uppercase().as_str() {
            "TLS" | "TLS-C" | "SSL" => (Reply::new(234, "Begin the handshake."), Next::StartTls),
            _ => (Reply::new(504, "Only AUTH TLS is known."), Next::GoOn),
        }
    }

    /// Answers a command of a client that has not logged in.
    async fn answer_stranger(&mut self, command: &Command<'_>) -> Reply {
        if let Some(reply) = self.answer_general(command) {
            return reply;
        }
        let must_encrypt = self.server.options.tls.is_some() && self.tls.is_none();
        match (command, self.name.take()) {
            (Command::User(_) | Command::Pass(_), _) if must_encrypt => Reply::new(530, "Send AUTH TLS first."),
            (Command::User(name), _) => {
                self.name = Some((*name).to_owned());
                Reply::new(331, "Send the password.")
            }
            (Command::Pass(_), None) => Reply::new(503, "Send USER first."),
            (Command::Pass(password), Some(name)) => {
                match self.server.log_in(&name, password, self.peer.ip(), self.tls.is_some()).await {
                    Ok(user) => {
                        tracing::info!(entity = user.entity.id.as_str(), user = user.name, "an FTP user has logged in");
                        self.user = Some(user);
                        Reply::new(230, "Logged in.")
                    }
                    Err(LoginRefusal::Wrong) => Reply::new(530, "Wrong user or password."),
                    Err(LoginRefusal::TooMany) => Reply::new(421, "Too many wrong passwords, try again in an hour."),
                    Err(LoginRefusal::Unavailable) => Reply::new(421, "Not available now, try again later."),
                }
            }
            _ => Reply::new(530, "Log in first."),
        }
    }

    /// Answers a command that does not need a user. Returns `None` for any other.
    fn answer_general(&mut self, command: &Command<'_>) -> Option<Reply> {
        Some(match command {
            Command::Feat => Reply::new(211, self.list_features()),
            Command::Syst => Reply::new(215, "UNIX Type: L8"),
            Command::Noop | Command::Help => Reply::new(200, "OK."),
            Command::Opts(option) if option.to_ascii_uppercase().starts_with("UTF8") => Reply::new(200, "UTF-8."),
            Command::Opts(option) if option.to_ascii_uppercase().starts_with("MLST") => {
                Reply::new(200, "MLST OPTS Type;Size;Modify;Perm;")
            }
            Command::Pbsz if self.tls.is_some() => Reply::new(200, "PBSZ=0"),
            Command::Prot(level) if self.tls.is_some() => {
                if level.eq_ignore_ascii_case("P") {
                    self.protects_data = true;
                    Reply::new(200, "Data is encrypted.")
                } else {
                    Reply::new(534, "Only PROT P is allowed.")
                }
            }
            Command::Pbsz | Command::Prot(_) => Reply::new(503, "Send AUTH TLS first."),
            Command::Unknown | Command::Opts(_) => Reply::new(502, "Unknown command."),
            Command::Active => Reply::new(502, "Only passive connections (EPSV, PASV)."),
            Command::Write => Reply::new(550, "Read only."),
            _ => return None,
        })
    }

    fn list_features(&self) -> String {
        let tls = if self.server.options.tls.is_some() { " AUTH TLS\n PBSZ\n PROT\n" } else { "" };
        format!(
            "Features:\n{tls} EPSV\n PASV\n MDTM\n MLST Type*;Size*;Modify*;Perm*;\n REST STREAM\n SIZE\n UTF8\nEnd"
        )
    }

    /// Answers a command of a user that needs no data connection.
    async fn answer_user(&mut self, command: &Command<'_>) -> Reply {
        if let Some(reply) = self.answer_general(command) {
            return reply;
        }
        match command {
            Command::User(_) | Command::Pass(_) => Reply::new(503, "You are logged in already."),
            Command::Pwd => Reply::new(257, "\"/\" is the only folder."),
            Command::Cwd(path) if FolderPath::parse(path) == FolderPath::Folder => Reply::new(250, "OK."),
            Command::Cwd(_) => Reply::new(550, "There is no such folder."),
            Command::Type(kind) if kind.to_ascii_uppercase().starts_with(['A', 'I', 'L']) => {
                // Lines already end as in a text, so both types send the same bytes.
                Reply::new(200, "OK.")
            }
            Command::Mode(mode) if mode.eq_ignore_ascii_case("S") => Reply::new(200, "OK."),
            Command::Stru(structure) if structure.eq_ignore_ascii_case("F") => Reply::new(200, "OK."),
            Command::Type(_) | Command::Mode(_) | Command::Stru(_) => Reply::new(504, "Not supported."),
            Command::Pasv | Command::Epsv(_) => self.open_passive(command).await,
            Command::Rest(position) => match position.parse() {
                Ok(position) => {
                    self.position = position;
                    Reply::new(350, "Send RETR.")
                }
                Err(_) => Reply::new(501, "Not a position."),
            },
            Command::Size(path) => self.describe_file(path, |_, file| Reply::new(213, file.bytes.to_string())),
            Command::Mdtm(path) => self.describe_file(path, |_, file| Reply::new(213, format_time(file))),
            Command::Mlst(path) => self.answer_mlst(path),
            Command::Stat(_) => Reply::new(211, "All is well."),
            Command::Abor => Reply::new(226, "Nothing to abort."),
            _ => Reply::new(502, "Unknown command."),
        }
    }

    /// Opens a port for the next data connection.
    async fn open_passive(&mut self, command: &Command<'_>) -> Reply {
        self.passive = None;
        let Some(local) = self.local.map(|address| address.to_canonical()) else {
            return Reply::new(425, "The connection has no address.");
        };
        if let Command::Epsv(argument) = command {
            match (argument.to_ascii_uppercase().as_str(), local) {
                ("ALL", _) => return Reply::new(200, "OK."),
                ("" | "1", IpAddr::V4(_)) | ("" | "2", IpAddr::V6(_)) => {}
                _ => return Reply::new(522, "Use the protocol of the control connection."),
            }
        }
        let owner = self.user.as_ref().map_or("", |user| user.entity.id.as_str());
        let Some(place) = self.server.waiting_ports.try_take(owner) else {
            return Reply::new(425, "Too many data connections of this user are waiting, try again later.");
        };
        let ports = self.server.options.passive_ports.as_ref();
        let Ok(listener) = listen_passive(self.local.unwrap_or(local), ports).await else {
            return Reply::new(425, "No port is free, try again later.");
        };
        let Ok(port) = listener.local_addr().map(|address| address.port()) else {
            return Reply::new(425, "No port is free, try again later.");
        };
        let reply = match (command, local) {
            (Command::Epsv(_), _) => Reply::new(229, format!("Extended passive mode (|||{port}|).")),
            (_, IpAddr::V4(local)) => {
                let [a, b, c, d] = self.server.options.public_address.unwrap_or(local).octets();
                let [high, low] = port.to_be_bytes();
                Reply::new(227, format!("Passive mode ({a},{b},{c},{d},{high},{low})."))
            }
            (_, IpAddr::V6(_)) => return Reply::new(425, "Use EPSV."),
        };
        self.passive = Some((listener, place));
        reply
    }

    /// Returns the user's entity as it is now.
    fn load_entity(&self) -> Result<Arc<Entity>, Reply> {
        let Some(user) = &self.user else { return Err(Reply::new(530, "Log in first.")) };
        match self.server.reload_entity(user) {
            Ok(Some(entity)) => Ok(entity),
            Ok(None) => Err(Reply::new(421, "The user has been revoked.")),
            Err(error) => {
                tracing::warn!(%error, "an FTP user cannot be loaded");
                Err(Reply::new(451, "Not available now, try again later."))
            }
        }
    }

    /// Finds the file with a path.
    fn find_file(&self, path: &str) -> Result<(Arc<Entity>, StoredFile), Reply> {
        let entity = self.load_entity()?;
        let found = match FolderPath::parse(path) {
            FolderPath::Folder => Ok(None),
            FolderPath::Entry(name) => self.server.app.gateway.find_file(&entity, name),
        };
        match found {
            Ok(Some(file)) => Ok((entity, file)),
            Ok(None) => Err(Reply::new(550, "There is no such file.")),
            Err(error) => {
                tracing::warn!(%error, "a reconciliation file cannot be found");
                Err(Reply::new(451, "Not available now, try again later."))
            }
        }
    }

    fn describe_file(&self, path: &str, describe: impl FnOnce(&Entity, &StoredFile) -> Reply) -> Reply {
        match self.find_file(path) {
            Ok((entity, file)) => describe(&entity, &file),
            Err(reply) => reply,
        }
    }

    fn answer_mlst(&self, path: &str) -> Reply {
        if FolderPath::parse(path) == FolderPath::Folder {
            return Reply::new(250, "Listing:\n Type=dir;Perm=el; /\nEnd");
        }
        self.describe_file(path, |entity, file| {
            Reply::new(250, format!("Listing:\n {}\nEnd", format_facts(&entity.id, file)))
        })
    }

    /// Returns the listing of the folder, of the files that fit a pattern, or of the one file with a path.
    fn list_folder(&self, path: &str, form: ListingForm) -> Result<String, Reply> {
        let pattern = match FolderPath::parse(path) {
            FolderPath::Folder => None,
            // Clients ask for the names that fit (RFC 1123, 4.1.2.7) before they fetch several files.
            FolderPath::Entry(name) if is_pattern(name) && form != ListingForm::Facts => Some(name),
            FolderPath::Entry(_) => {
                let (entity, file) = self.find_file(path)?;
                return Ok(format_listing(&entity.id, &[file], form));
            }
        };
        let entity = self.load_entity()?;
        match self.server.app.gateway.list_files(&entity, Date::MIN, Date::MAX) {
            Ok(mut files) => {
                let name = |file: &StoredFile| FileName { entity: entity.id.clone(), day: file.day }.to_string();
                files.retain(|file| pattern.is_none_or(|pattern| fits_pattern(pattern, &name(file))));
                if pattern.is_some() && files.is_empty() {
                    return Err(Reply::new(550, "There is no such file."));
                }
                Ok(format_listing(&entity.id, &files, form))
            }
            // The entity has become one without files.
            Err(Failure::Refused(_)) => Ok(String::new()),
            Err(error) => {
                tracing::warn!(%error, "reconciliation files cannot be listed");
                Err(Reply::new(451, "Not available now, try again later."))
            }
        }
    }

    /// Carries out a command that needs a data connection. Returns the last reply.
    async fn transfer(&mut self, control: &mut Control, command: &Command<'_>) -> io::Result<Reply> {
        let (listener, position) = (self.passive.take(), std::mem::take(&mut self.position));
        if self.tls.is_some() && !self.protects_data {
            return Ok(Reply::new(521, "Send PROT P first."));
        }
        // The place is free again after the transfer, because the connection keeps the port until then.
        let Some((listener, _place)) = listener else { return Ok(Reply::new(425, "Send EPSV or PASV first.")) };
        let found = match command {
            Command::List { path, names_only: true } => self.list_folder(path, ListingForm::Names).map(Found::Listing),
            Command::List { path, names_only: false } => self.list_folder(path, ListingForm::Long).map(Found::Listing),
            Command::Mlsd(path) => self.list_folder(path, ListingForm::Facts).map(Found::Listing),
            Command::Retr(path) => self.find_file(path).map(|(entity, file)| Found::File(entity, file)),
            _ => Err(Reply::new(502, "Unknown command.")),
        };
        let found = match found {
            Ok(found) => found,
            Err(reply) => return Ok(reply),
        };
        send_reply(control, &Reply::new(150, "Here it comes.")).await?;
        let requires_resumption = self.user.as_ref().is_some_and(|user| user.requires_resumption);
        let tls = self.tls.clone().filter(|_| self.protects_data);
        let tls = tls.map(|session| DataTls { session, requires_resumption });
        let mut connection = match accept_data(listener, self.peer, tls.as_ref()).await {
            Ok(connection) => connection,
            Err(DataFault::OtherTlsSession) => {
                tracing::warn!(peer = %self.peer, "an FTP data connection of another TLS session was closed");
                return Ok(Reply::new(522, "Data connections have to resume the TLS session of this connection."));
            }
            Err(error) => {
                tracing::info!(%error, "an FTP client has opened no data connection");
                return Ok(Reply::new(425, "There is no data connection."));
            }
        };
        let sent = match self.send_found(&found, position, &mut connection).await {
            Ok(()) => connection.finish().await.map_err(TransferFault::from),
            Err(fault) => Err(fault),
        };
        Ok(match sent {
            Ok(()) => Reply::new(226, "Complete."),
            Err(TransferFault::Client(error)) => {
                tracing::info!(%error, "an FTP client has not received all");
                Reply::new(426, "The data connection has ended early.")
            }
            Err(TransferFault::Store(error)) => {
                tracing::warn!(%error, "a reconciliation file cannot be sent by FTP");
                Reply::new(451, "Not available now, try again later.")
            }
        })
    }

    /// Sends a listing or a file.
    async fn send_found(
        &self,
        found: &Found,
        position: u64,
        connection: &mut DataConnection,
    ) -> Result<(), TransferFault> {
        match found {
            Found::Listing(listing) => Ok(connection.send(listing.as_bytes()).await?),
            Found::File(entity, file) => self.server.send_file(entity, file, position, connection).await,
        }
    }
}

/// Content of a transfer.
enum Found {
    Listing(String),
    File(Arc<Entity>, StoredFile),
}

/// Reads a line without its end. Returns `None` at the end of the connection, or if the line is too long. Bytes that
/// are no UTF-8 become replacement characters.
async fn read_line(control: &mut Control) -> io::Result<Option<Zeroizing<String>>> {
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_LINE));
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    control.take(limit).read_until(b'\n', &mut line).await?;
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    while line.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        line.pop();
    }
    Ok(Some(Zeroizing::new(String::from_utf8_lossy(&line).into_owned())))
}

/// Sends a reply. A text of several lines begins with a hyphen after the code, and its last line ends it.
async fn send_reply(control: &mut Control, Reply(code, text): &Reply) -> io::Result<()> {
    let formatted = match text.rsplit_once('\n') {
        None => format!("{code} {text}\r\n"),
        Some((before, last)) => format!("{code}-{}\r\n{code} {last}\r\n", before.replace('\n', "\r\n")),
    };
    let sent = async {
        control.write_all(formatted.as_bytes()).await?;
        control.flush().await
    };
    timeout(REPLY_TIMEOUT, sent).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
