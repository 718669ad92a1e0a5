//! Checks the set-up of a server for mistakes that open it to strangers.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, ensure};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::setup_fault::SetupFault;
use tillgate_domain::access::setup_fault::find_setup_faults;
use tillgate_store::entity_directory::Directory;
use tillgate_store::{Store, StoreError, read_live_refusal};

use crate::cli::serve::settings::GatewaySettings;

/// Reason for a gateway without a public address with HTTPS.
const NO_PUBLIC_URL: &str = "it has no --public-url https://…, the address that shoppers' browsers reach";

/// Finds the mistakes in the set-up, and warns of each. Refuses live entities beside one, and without a public address
/// with HTTPS; without live entities everything passes. Notes for other commands whether live entities are served.
pub(in crate::cli) fn check_setup(
    settings: &GatewaySettings,
    data: &Path,
    directory: &Directory,
    store: &Store,
) -> anyhow::Result<Vec<SetupFault>> {
    let GatewaySettings { trusted_proxies, allowed_networks, public_url, .. } = settings;
    let faults =
        find_setup_faults(trusted_proxies, allowed_networks, public_url.as_deref(), is_writable_by_everybody(data)?);
    for fault in &faults {
        tracing::warn!(
            option = fault.as_str(),
            "the set-up is unsafe, and no live entity is served: {}",
            fault.description()
        );
    }
    let is_https = public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
    let refusal = match faults.first() {
        _ if !is_https => Some(NO_PUBLIC_URL),
        fault => fault.map(|fault| fault.description()),
    };
    if directory.has_live_entity() {
        ensure!(
            is_https,
            "the store has live entities: name the address that shoppers' browsers reach, --public-url https://…"
        );
        if let Some(fault) = faults.first() {
            anyhow::bail!("the store has live entities, and the set-up is unsafe. {}", fault.description());
        }
        if trusted_proxies.is_empty() {
            tracing::warn!("requests for live entities are refused: no --trusted-proxy says that they came over HTTPS");
        }
    }
    // Not before the checks: another server with this folder may run, and goes on.
    store.note_live_refusal(refusal).context("noting if live entities are served")?;
    Ok(faults)
}

/// Warns on the standard error stream, before an entity becomes live, that the server beside it serves no live entity.
pub(in crate::cli) fn warn_of_running_server(entity: &Entity, data: &Path) -> Result<(), StoreError> {
    if entity.live
        && let Some(reason) = read_live_refusal(data)?
    {
        eprintln!(
            "tillgate: warning: the gateway that runs with this data folder serves no live entities: {reason}. It \
             refuses requests for this entity, and does not start again without that"
        );
    }
    Ok(())
}

/// Returns true if every user of the machine may write a folder or a file in it.
fn is_writable_by_everybody(folder: &Path) -> anyhow::Result<bool> {
    let is_open = |path: &Path| -> std::io::Result<bool> {
        // A link has the permissions of its target.
        Ok(fs::metadata(path)?.permissions().mode() & 0o002 != 0)
    };
    let check = || -> std::io::Result<bool> {
        let mut files = fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
        Ok(is_open(folder)? || files.any(|file| is_open(&file).unwrap_or(false)))
    };
    check().with_context(|| format!("reading the permissions of {}", folder.display()))
}
