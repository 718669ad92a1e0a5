//! Upload by SFTP.

use std::io;

use russh::client::Handle;
use russh_sftp::client::error::Error as SftpError;
use russh_sftp::client::{Config as SftpConfig, SftpSession};
use tillgate_domain::delivery::file_push::partial_name;
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_gateway::App;
use tokio::io::AsyncWriteExt as _;

use super::content::FileContent;
use super::ssh::{HostKeyCheck, SshFault, open_session};
use super::{PushFault, PushServer, PushStep, STEP_LIMIT, clean_text, warn_unknown_size, within_limit};

/// Number of writes that wait for the server's confirmation.
const WRITES_AT_ONCE: usize = 16;

/// Uploads a file under a temporary name, compares its size, and renames it.
///
/// # Errors
/// The reason why the server does not have the file.
pub(super) async fn upload_file(
    app: &App,
    server: &PushServer,
    name: &FileName,
    content: &mut FileContent<'_>,
) -> Result<(), PushFault> {
    let address = &server.address;
    let (ssh, _guard) = open_session(app, server).await?;
    let sftp = open_sftp(&ssh).await?;
    let path = |name: &str| match address.folder.as_str() {
        "" => name.to_owned(),
        folder if folder.ends_with('/') => format!("{folder}{name}"),
        folder => format!("{folder}/{name}"),
    };
    let (name, partial) = (path(&name.to_string()), path(&partial_name(name)));
    store_file(&sftp, &partial, content).await?;
    match find_size(&sftp, PushStep::Size, &partial).await {
        Ok(found) if found == content.size => {}
        Ok(found) => return Err(PushFault::Size(found, content.size)),
        // The server has confirmed each part. One that tells no sizes would get no file at all otherwise.
        Err(fault @ (PushFault::Refused(..) | PushFault::Protocol(_))) => warn_unknown_size(&address.host, &fault),
        Err(fault) => return Err(fault),
    }
    rename_file(&sftp, &partial, &name, content.size).await
}

/// Starts the server's SFTP.
async fn open_sftp(ssh: &Handle<HostKeyCheck>) -> Result<SftpSession, PushFault> {
    let step = PushStep::Login;
    let opened = within_limit(step, async {
        let channel = ssh.channel_open_session().await?;
        channel.request_subsystem(true, "sftp").await?;
        Ok::<_, russh::Error>(channel)
    });
    let channel = opened.await?.map_err(|error| SshFault::Ssh(error).at(step))?;
    let config = SftpConfig {
        request_timeout_secs: STEP_LIMIT.as_secs(),
        max_concurrent_writes: WRITES_AT_ONCE,
        ..SftpConfig::default()
    };
    run_step(step, SftpSession::new_with_config(channel.into_stream(), config)).await
}

/// Sends the content under a name, part by part.
async fn store_file(sftp: &SftpSession, name: &str, content: &mut FileContent<'_>) -> Result<(), PushFault> {
    let mut file = run_step(PushStep::Open, sftp.create(name)).await?;
    // The library reports refused writes as errors of the connection, with the server's text.
    let refused = |_: io::Error| PushFault::Refused(PushStep::Transfer, "an error".to_owned());
    loop {
        let part = content.read_part().await?;
        if part.is_empty() {
            break;
        }
        within_limit(PushStep::Transfer, file.write_all(part)).await?.map_err(refused)?;
    }
    within_limit(PushStep::Transfer, file.close()).await?.map_err(refused)
}

/// Gives a file its final name. Servers may refuse to replace a file: then a file of the same size is deleted first,
/// which an attempt before has left.
async fn rename_file(sftp: &SftpSession, partial: &str, name: &str, size: u64) -> Result<(), PushFault> {
    let refused = match run_step(PushStep::Rename, sftp.rename(partial, name)).await {
        Err(fault @ PushFault::Refused(..)) => fault,
        renamed => return renamed,
    };
    match find_size(sftp, PushStep::Rename, name).await {
        Ok(found) if found == size => {
            run_step(PushStep::Rename, sftp.remove_file(name)).await?;
            run_step(PushStep::Rename, sftp.rename(partial, name)).await
        }
        Ok(_) => Err(PushFault::NameTaken),
        Err(_) => Err(refused),
    }
}

/// Returns the size of a file of the server.
async fn find_size(sftp: &SftpSession, step: PushStep, name: &str) -> Result<u64, PushFault> {
    let metadata = run_step(step, sftp.metadata(name)).await?;
    metadata.size.ok_or(PushFault::Protocol(step))
}

/// Waits for a step of the library, and converts its error.
async fn run_step<T>(step: PushStep, work: impl Future<Output = Result<T, SftpError>>) -> Result<T, PushFault> {
    within_limit(step, work).await?.map_err(|error| match error {
        // The text of the status is left out, because it may repeat the password.
        SftpError::Status(status) => PushFault::Refused(step, status.status_code.to_string()),
        SftpError::Timeout => PushFault::Timeout(step),
        SftpError::IO(text) => PushFault::Connection(step, clean_text(&text)),
        SftpError::Limited(_) | SftpError::UnexpectedPacket | SftpError::UnexpectedBehavior(_) => {
            PushFault::Protocol(step)
        }
    })
}
