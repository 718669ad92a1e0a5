//! `tillgate ftp-user`: users of the FTP server.

use anyhow::bail;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;
use tillgate_domain::id::{EntityId, to_hex};
use tillgate_files::ftp::password::{SALT, hash_password};
use tillgate_gateway::random_bytes;
use tillgate_gateway::settlement::reconciliation::has_files;
use tillgate_store::delivery::ftp_user::{FtpUser, FtpUserInfo};

use crate::cli::access::token::parse_entity_id;
use crate::cli::{CommonOptions, open_existing};

/// Users of the FTP server.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum FtpUserCommand {
    /// Create a user who reads the reconciliation files of a division or merchant. The password is shown this once.
    Create(CreateFtpUser),
    /// List the users.
    List(ListFtpUsers),
    /// Revoke a user; a running server refuses the user from the next command on.
    Revoke(RevokeFtpUser),
}

/// Create a user.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate ftp-user create --data ./tillgate-data --entity 8a01… --name corner-bakery"
)]
pub(in crate::cli) struct CreateFtpUser {
    #[command(flatten)]
    common: CommonOptions,
    /// The id of the division or merchant.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The user's name: 1 to 32 lowercase letters, digits and hyphens. A random one, if not given. Names of revoked
    /// users cannot be used again.
    #[arg(long, value_parser = parse_name)]
    name: Option<String>,
    /// `off` for a client that cannot resume the TLS session of its control connection in data connections, such as
    /// Python's ftplib. Others from the address of such a client could fetch its files.
    #[arg(long, value_name = "on|off", value_parser = ["on", "off"], default_value = "on")]
    session_reuse: String,
}

/// List the users.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate ftp-user list --data ./tillgate-data --entity 8a01…")]
pub(in crate::cli) struct ListFtpUsers {
    #[command(flatten)]
    common: CommonOptions,
    /// Only those of this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Revoke a user.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate ftp-user revoke --data ./tillgate-data --name corner-bakery")]
pub(in crate::cli) struct RevokeFtpUser {
    #[command(flatten)]
    common: CommonOptions,
    /// The user's name, as `ftp-user list` shows it.
    #[arg(long)]
    name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreatedFtpUser {
    entity_id: EntityId,
    user: String,
    password: String,
    session_reuse: bool,
}

#[derive(Serialize)]
struct RevokedFtpUser {
    user: String,
    revoked: bool,
}

impl FtpUserCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Revoke(command) => command.run(),
        }
    }
}

impl CreateFtpUser {
    /// Creates a user and prints its password. An entity without files and a name that is taken are errors.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let id = parse_entity_id(&self.entity)?;
        let Some(entity) = store.load_entity(&id)? else { bail!("there is no entity {id}") };
        if !has_files(entity.level) {
            bail!("{id} is a {}: divisions and merchants have reconciliation files", entity.level.display_name());
        }
        let user = match self.name {
            Some(name) => name,
            None => format!("ftp-{}", to_hex(&random_bytes::<6>()?)),
        };
        let (password, salt) = (to_hex(&random_bytes::<16>()?), random_bytes::<SALT>()?);
        let Some(hash) = hash_password(password.as_bytes(), &salt) else { bail!("there is no memory for the hash") };
        let session_reuse = self.session_reuse == "on";
        let stored = FtpUser {
            entity: id.clone(),
            salt: salt.to_vec(),
            hash: hash.to_vec(),
            requires_resumption: session_reuse,
        };
        if !store.add_ftp_user(&user, &stored, Timestamp::now())? {
            bail!("there is or was a user {user}: choose another name");
        }
        let created = CreatedFtpUser { entity_id: id, user, password, session_reuse };
        self.common.print_output(&created, |created| {
            format!("user      {}\npassword  {}\n\nThe password is shown this once.", created.user, created.password)
        })
    }
}

impl ListFtpUsers {
    /// Prints the users of an entity, or of all, including revoked ones.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let users = store.load_ftp_users(entity.as_ref())?;
        self.common.print_output(&users, |users| users.iter().map(format_user).collect::<Vec<_>>().join("\n"))
    }
}

/// Formats a user as a line of `ftp-user list`.
fn format_user(user: &FtpUserInfo) -> String {
    let state = user.revoked.map_or_else(|| "valid".to_owned(), |since| format!("revoked {since:.0}"));
    let reuse = if user.session_reuse { "" } else { "  without session reuse" };
    format!("{}  {}  {:.0}  {state}{reuse}", user.user, user.entity_id, user.created)
}

impl RevokeFtpUser {
    /// Revokes a user. An unknown or revoked one is an error.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        if !store.revoke_ftp_user(&self.name, Timestamp::now())? {
            bail!("there is no valid FTP user {}", self.name);
        }
        let revoked = RevokedFtpUser { user: self.name.clone(), revoked: true };
        self.common.print_output(&revoked, |revoked| format!("{} is revoked", revoked.user))
    }
}

/// Checks a user's name.
fn parse_name(text: &str) -> Result<String, String> {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if (1..=32).contains(&text.len()) && text.bytes().all(is_allowed) {
        Ok(text.to_owned())
    } else {
        Err("1 to 32 lowercase letters, digits and hyphens".to_owned())
    }
}
