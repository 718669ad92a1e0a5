//! `tillgate file-push`: reconciliation files that are pushed to a merchant's FTP, FTPS or SFTP server.

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, Subcommand};
use jiff::civil::Date;
use serde::Serialize;
use tillgate_domain::id::EntityId;
use tillgate_file_transfer::file_push::load_ca_certificates;
use tillgate_file_transfer::file_push::secret::PushSecret;
use tillgate_gateway::delivery::file_push::{NewPushTarget, PushCredentials};

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::delivery::file_push_status::{ListPushTargets, RetryPushes, ShowPushStatus};
use crate::cli::input_file::read_input_file;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::serve::ports::PortOptions;

/// Largest size of a file with a password, a key or certificates, in bytes.
const MAX_FILE: u64 = 64 * 1024;

/// Push of reconciliation files.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum FilePushCommand {
    /// Set the server to which the files of a division or merchant are pushed, replacing the previous one.
    Set(SetPushTarget),
    /// List the servers.
    List(ListPushTargets),
    /// Show the sent and waiting files, with the reasons for waiting.
    Status(ShowPushStatus),
    /// Resend files at once: the waiting and failed files, or the file of one day.
    Retry(RetryPushes),
    /// Remove a server, so that no more files are sent to it.
    Remove(RemovePushTarget),
}

/// Set the server of an entity. Files that become complete from now on are pushed to it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate file-push set --data ./tillgate-data --entity 8a01… \\\n      --url sftp://bakery@files.example/daily --private-key-file id_ed25519 --host-key SHA256:…\n\nFTP with TLS, including existing files:\n  tillgate file-push set --data ./tillgate-data --entity 8a01… \\\n      --url ftps://bakery@files.example/daily --password-file password --from 2026-10-01"
)]
pub(in crate::cli) struct SetPushTarget {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// The id of the division or merchant.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Address of an existing folder: sftp://USER@HOST/FOLDER, or ftps for FTP with TLS (AUTH TLS). Plain ftp is for
    /// sandboxes only. FOLDER is relative to the user's initial folder; //FOLDER is an absolute path.
    #[arg(long)]
    url: String,
    /// File with the password.
    #[arg(long, value_name = "FILE", conflicts_with = "private_key_file")]
    password_file: Option<PathBuf>,
    /// File with an Ed25519 or ECDSA key without a passphrase, for sftp.
    #[arg(long, value_name = "FILE")]
    private_key_file: Option<PathBuf>,
    /// Fingerprint of the server's host key, for sftp: SHA256:…, as `ssh-keygen -l` prints it.
    #[arg(long, value_name = "SHA256:…")]
    host_key: Option<String>,
    /// File with the accepted issuers of the server's certificate in PEM, for ftps. Default: the system's certificates.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Also send the existing files from this day on, including files that were sent before.
    #[arg(long, value_name = "DAY")]
    from: Option<Date>,
    #[command(flatten)]
    ports: PortOptions,
}

/// Remove the server of an entity, with its password or key and its deliveries.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate file-push remove --data ./tillgate-data --entity 8a01…")]
pub(in crate::cli) struct RemovePushTarget {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SavedPushTarget {
    entity_id: EntityId,
    url: String,
    /// Number of files that are sent at once.
    waiting: u64,
}

impl FilePushCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Set(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Status(command) => command.run(),
            Self::Retry(command) => command.run(),
            Self::Remove(command) => command.run(),
        }
    }
}

impl SetPushTarget {
    /// Checks and stores a server. Connects to nothing.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let entity_id = parse_entity_id(&self.entity)?;
        let new = NewPushTarget {
            entity: entity_id.clone(),
            url: self.url.clone(),
            host_key: self.host_key.clone(),
            has_private_key: self.private_key_file.is_some(),
            has_ca: self.ca_file.is_some(),
        };
        let checked = administration.check_push_target(new, &self.ports.allowed_ports())?;
        let credentials = PushCredentials { secret: self.read_secret()?.to_bytes(), ca: self.read_ca()? };
        let waiting = administration.set_push_target(checked, credentials, self.from)?;
        let saved = SavedPushTarget { entity_id, url: self.url, waiting };
        self.common.print_output(&saved, |saved| {
            format!("The files of {} are pushed to {}; {} wait", saved.entity_id, saved.url, saved.waiting)
        })
    }

    /// Reads the password or the private key.
    fn read_secret(&self) -> anyhow::Result<PushSecret> {
        let (path, secret) = match (&self.password_file, &self.private_key_file) {
            (Some(path), _) => (path, PushSecret::parse_password(&read_input_file(path, MAX_FILE)?)),
            (None, Some(path)) => (path, PushSecret::parse_private_key(&read_input_file(path, MAX_FILE)?)),
            (None, None) => bail!("name a --password-file, or for sftp a --private-key-file"),
        };
        secret.with_context(|| path.display().to_string())
    }

    /// Reads the certificates that the server's certificate has to be issued by.
    fn read_ca(&self) -> anyhow::Result<Option<String>> {
        let Some(path) = &self.ca_file else { return Ok(None) };
        let text = read_input_file(path, MAX_FILE)?;
        ensure!(load_ca_certificates(&text).is_some(), "{} has no valid certificate in PEM", path.display());
        Ok(Some(text.to_string()))
    }
}

impl RemovePushTarget {
    /// Removes a server.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = parse_entity_id(&self.entity)?;
        administration.remove_push_target(&entity)?;
        let removed = serde_json::json!({ "entityId": entity });
        self.common.print_output(&removed, |_| format!("The files of {entity} are not pushed any more"))
    }
}
