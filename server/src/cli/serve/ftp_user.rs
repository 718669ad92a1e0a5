//! `tillgate ftp-user`: users of the FTP server.

use clap::{Args, Subcommand};
use serde::Serialize;
use tillgate_domain::id::EntityId;
use tillgate_gateway::delivery::ftp_user::{CreatedFtpUser, parse_user_name};
use tillgate_store::delivery::ftp_user::FtpUserInfo;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;

/// Users of the FTP server.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum FtpUserCommand {
    /// Create a user who reads the reconciliation files of a division or merchant. The password is shown only once.
    Create(CreateFtpUser),
    /// List the users.
    List(ListFtpUsers),
    /// Revoke a user. A running server refuses the user from the next command on.
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
    /// Name of the user: 1 to 32 lowercase letters, digits and hyphens. Default: a random name. Names of revoked users
    /// cannot be used again.
    #[arg(long, value_parser = parse_user_name)]
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
    /// Only users of this entity.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// Revoke a user.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate ftp-user revoke --data ./tillgate-data --name corner-bakery")]
pub(in crate::cli) struct RevokeFtpUser {
    #[command(flatten)]
    common: CommonOptions,
    /// Name of the user, from `ftp-user list`.
    #[arg(long)]
    name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FtpUserOutput {
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
    /// Creates a user and prints its password.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let id = parse_entity_id(&self.entity)?;
        let session_reuse = self.session_reuse == "on";
        let CreatedFtpUser { user, password } = administration.create_ftp_user(&id, self.name, session_reuse)?;
        let created = FtpUserOutput { entity_id: id, user, password, session_reuse };
        self.common.print_output(&created, |created| {
            format!("user      {}\npassword  {}\n\nThe password is shown only once.", created.user, created.password)
        })
    }
}

impl ListFtpUsers {
    /// Prints the users of an entity, or of all, including revoked ones.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let users = administration.load_ftp_users(entity.as_ref())?;
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
    /// Revokes a user.
    fn run(self) -> anyhow::Result<()> {
        self.common.open_administration()?.revoke_ftp_user(&self.name)?;
        let revoked = RevokedFtpUser { user: self.name.clone(), revoked: true };
        self.common.print_output(&revoked, |revoked| format!("{} is revoked", revoked.user))
    }
}
