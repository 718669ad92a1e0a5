//! `tillgate user`: users of the back office, their roles and invitations.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde::Serialize;
use tillgate_domain::access::role::{Reach, Role, RoleGrant};
use tillgate_domain::access::user::{User, parse_mail};
use tillgate_gateway::access::actor::Actor;
use tillgate_gateway::access::users::{Changed, Invited, NewUser, UserAct, invitation_path};
use tillgate_store::access::user::UserKey;

use crate::cli::CommonOptions;
use crate::cli::serve::value_parsers::parse_public_url;

/// Users of the back office.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum UserCommand {
    /// Create a user, and print the link at which the user sets a password and a second factor.
    Create(CreateUser),
    /// List the users with their roles.
    List(ListUsers),
    /// Print a new link for a user, who sets password and second factor again. Earlier links end.
    Invite(InviteUser),
    /// Disable a user, and end the sessions.
    Disable(DisableUser),
    /// Enable a user who was disabled.
    Enable(EnableUser),
    /// Give and take roles.
    #[command(subcommand)]
    Role(RoleCommand),
}

/// Roles of users.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum RoleCommand {
    /// Give a user a role.
    Add(AddRole),
    /// Take a role from a user.
    Remove(RemoveRole),
}

/// Create a user.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate user create --data ./tillgate-data --mail jo@shop.example --name 'Jo Miller' \\\n      \
    --role analyst --entity 8a01…"
)]
pub(in crate::cli) struct CreateUser {
    #[command(flatten)]
    common: CommonOptions,
    /// The mail address, which is the name at sign-in.
    #[arg(long, value_name = "MAIL")]
    mail: String,
    /// The name, as other users see it.
    #[arg(long)]
    name: String,
    #[command(flatten)]
    grant: GrantOptions,
    #[command(flatten)]
    link: LinkOptions,
}

/// A role with the part of the tree on which it holds.
#[derive(Debug, Args)]
struct GrantOptions {
    /// The role: administrator, merchant, analyst, accountant, developer or viewer.
    #[arg(long, value_name = "ROLE")]
    role: Role,
    /// The entity on which the role holds, and on everything below it. The whole gateway, if not given.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
}

/// The address of links.
#[derive(Debug, Args)]
struct LinkOptions {
    /// The address under which browsers reach the gateway.
    #[arg(long, value_name = "URL", env = "TILLGATE_PUBLIC_URL", default_value = "http://127.0.0.1:8080",
        value_parser = parse_public_url)]
    public_url: String,
}

/// List the users.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate user list --data ./tillgate-data")]
pub(in crate::cli) struct ListUsers {
    #[command(flatten)]
    common: CommonOptions,
}

/// A user.
#[derive(Debug, Args)]
struct NamedUser {
    #[command(flatten)]
    common: CommonOptions,
    /// The mail address.
    #[arg(long, value_name = "MAIL")]
    mail: String,
}

/// Print a new link for a user.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate user invite --data ./tillgate-data --mail jo@shop.example")]
pub(in crate::cli) struct InviteUser {
    #[command(flatten)]
    user: NamedUser,
    #[command(flatten)]
    link: LinkOptions,
}

/// Disable a user.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate user disable --data ./tillgate-data --mail jo@shop.example")]
pub(in crate::cli) struct DisableUser {
    #[command(flatten)]
    user: NamedUser,
}

/// Enable a user.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate user enable --data ./tillgate-data --mail jo@shop.example")]
pub(in crate::cli) struct EnableUser {
    #[command(flatten)]
    user: NamedUser,
}

/// Give a role. A user who had no role on the entity or above gets a new link.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate user role add --data ./tillgate-data --mail jo@shop.example --role viewer \\\n      \
    --entity 8a01…"
)]
pub(in crate::cli) struct AddRole {
    #[command(flatten)]
    user: NamedUser,
    #[command(flatten)]
    grant: GrantOptions,
    #[command(flatten)]
    link: LinkOptions,
}

/// Take a role.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate user role remove --data ./tillgate-data --mail jo@shop.example --role viewer \\\n      \
    --entity 8a01…"
)]
pub(in crate::cli) struct RemoveRole {
    #[command(flatten)]
    user: NamedUser,
    #[command(flatten)]
    grant: GrantOptions,
}

/// A user in the output of a command.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UserOutput {
    id: String,
    mail: String,
    name: String,
    state: &'static str,
    created: jiff::Timestamp,
    roles: Vec<RoleOutput>,
    /// The link of an invitation.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RoleOutput {
    role: &'static str,
    /// The entity's id, `*` for the whole gateway.
    entity_id: String,
}

impl UserOutput {
    fn new(user: &User) -> Self {
        let role =
            |grant: &RoleGrant| RoleOutput { role: grant.role.as_str(), entity_id: grant.reach.as_str().to_owned() };
        Self {
            id: user.id.to_string(),
            mail: user.mail.clone(),
            name: user.name.clone(),
            state: user.state.as_str(),
            created: user.created,
            roles: user.permissions.grants().iter().map(role).collect(),
            link: None,
        }
    }

    /// Formats the user as a line: id, address, state, roles, name.
    fn format_line(&self) -> String {
        let roles: Vec<String> = self.roles.iter().map(|role| format!("{} on {}", role.role, role.entity_id)).collect();
        format!("{}  {}  {}  {}  {}", self.id, self.mail, self.state, roles.join(", "), self.name)
    }
}

impl UserCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Invite(command) => command.run(),
            Self::Disable(command) => command.user.run(&UserAct::Disable),
            Self::Enable(command) => command.user.run(&UserAct::Enable),
            Self::Role(RoleCommand::Add(command)) => command.run(),
            Self::Role(RoleCommand::Remove(change)) => {
                change.user.run(&UserAct::RemoveRole(change.grant.parse_grant()?))
            }
        }
    }
}

impl GrantOptions {
    fn parse_grant(&self) -> anyhow::Result<RoleGrant> {
        let reach = match &self.entity {
            Some(text) => Reach::Entity(super::token::parse_entity_id(text)?),
            None => Reach::Gateway,
        };
        Ok(RoleGrant { role: self.role, reach })
    }
}

impl LinkOptions {
    /// Prints the link of an invitation, which is known only now.
    fn print_link(&self, common: &CommonOptions, invited: &Invited) -> anyhow::Result<()> {
        let link = format!("{}{}", self.public_url, invitation_path(&invited.token));
        let output = UserOutput { link: Some(link), ..UserOutput::new(&invited.user) };
        common.print_output(&output, |output| {
            let link = output.link.as_deref().unwrap_or_default();
            format!("{link}\n\nThe link is shown this once. It works once, within 24 hours.")
        })
    }
}

impl CreateUser {
    /// Creates a user, and prints the link of the invitation.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let new = NewUser { mail: self.mail, name: self.name, grants: vec![self.grant.parse_grant()?] };
        let invited = administration.create_user(new, Actor::of_process())?;
        self.link.print_link(&self.common, &invited)
    }
}

impl ListUsers {
    /// Prints all users.
    fn run(self) -> anyhow::Result<()> {
        let users = self.common.open_administration()?.load_users()?;
        let outputs: Vec<UserOutput> = users.iter().map(UserOutput::new).collect();
        self.common.print_output(&outputs, |outputs| {
            outputs.iter().map(UserOutput::format_line).collect::<Vec<_>>().join("\n")
        })
    }
}

impl InviteUser {
    /// Prints a new link for a user.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.user.common.open_administration()?;
        let invited = administration.invite_user(&self.user.key()?, &Actor::of_process())?;
        self.link.print_link(&self.user.common, &invited)
    }
}

impl AddRole {
    /// Gives a role. Prints the user, or the link of a user whose credentials the role has reset.
    fn run(self) -> anyhow::Result<()> {
        let changed = self.user.change(&UserAct::AddRole(self.grant.parse_grant()?))?;
        match changed {
            Changed { user, token: Some(token) } => self.link.print_link(&self.user.common, &Invited { user, token }),
            Changed { user, token: None } => {
                self.user.common.print_output(&UserOutput::new(&user), UserOutput::format_line)
            }
        }
    }
}

impl NamedUser {
    fn key(&self) -> anyhow::Result<UserKey> {
        let mail = parse_mail(&self.mail).map_err(|message| anyhow::anyhow!("--mail {}: {message}", self.mail))?;
        Ok(UserKey::Mail(mail))
    }

    /// Does an act on the user.
    fn change(&self, act: &UserAct) -> anyhow::Result<Changed> {
        let administration = self.common.open_administration()?;
        administration
            .change_user(&self.key()?, act, &Actor::of_process())
            .with_context(|| format!("changing the user {}", self.mail))
    }

    /// Does an act on the user, and prints the user.
    fn run(self, act: &UserAct) -> anyhow::Result<()> {
        let changed = self.change(act)?;
        self.common.print_output(&UserOutput::new(&changed.user), UserOutput::format_line)
    }
}
