//! A session: the commands of one client, one after the other.

mod control;
mod folder;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tillgate_domain::access::entity::Entity;
use tillgate_net::shares::Place;
use tillgate_store::settlement::reconciliation_file::StoredFile;
use tokio::io::BufReader;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::command::{Command, FolderPath};
use super::data::{DataConnection, DataFault, DataTls, accept_data, listen_passive};
use super::listing::{ListingForm, format_time};
use super::login::{LoggedIn, LoginRefusal};
use super::server::FtpServer;
use super::tls::SessionTls;
use super::transfer::TransferFault;
use control::{Control, REPLY_TIMEOUT, Reply, read_line, send_reply};

/// Maximum time until a client has logged in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Number of wrong passwords or refused commands after which a session ends.
const MAX_FAULTS: u32 = 10;

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
pub(super) struct FtpSession {
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

impl FtpSession {
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
