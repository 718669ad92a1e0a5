//! Opens a gateway on a data folder whose clock shows the times of the demo data.

use std::sync::Arc;

use anyhow::Context as _;
use jiff::SignedDuration;
use tillgate_domain::payment::TimeLimits;
use tillgate_gateway::registry::Registry;
use tillgate_gateway::risk::stored_rules::compile_stored_rules;
use tillgate_gateway::risk::velocity::{VelocityLimiter, VelocityLimits};
use tillgate_gateway::{Gateway, GatewayOptions, GatewayParts};
use tillgate_os::clock::Clock;
use tillgate_os::id_clock::IdClock;
use tillgate_store::entity_directory::Directory;
use tillgate_store::{Sources, Store};
use tillgate_vault::Keyring;

use super::time::StepClock;
use crate::cli::data_place::DataPlace;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::sandbox::acquirer::embed_default_host;

/// Opens the gateway of a data folder with a clock of its own. It takes no requests.
pub(super) async fn open_gateway(place: &DataPlace, clock: &Arc<StepClock>) -> anyhow::Result<Gateway> {
    let (source, vault) = VaultKeyOptions::of_command().open_vault(&place.open_store()?, place)?;
    let (vault, data) = (Arc::new(vault), place.folder());
    let keys = Keyring { vault: Arc::clone(&vault), source };
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    let sources = Sources { clock: Arc::clone(&clock), ..Sources::system() };
    let directory = Arc::new(Directory::new(compile_stored_rules));
    let opened = Store::open_alone(data, Arc::clone(&directory), keys, sources);
    let store = opened.with_context(|| format!("opening the store in {}", data.display()))?;
    let account_index = store.open_account_index(&vault).await?;
    let host = embed_default_host(data)?;
    let now = clock.now();
    Ok(Gateway::new(GatewayParts {
        // Ids begin with the times of the month, although other entities may have later ones already.
        id_clock: IdClock::starting_at(now),
        directory,
        store,
        clock,
        connectors: Registry::default().with_external(Arc::new(host), true),
        vault,
        account_index,
        // The shoppers of a month pay within seconds, and the counts are not stored.
        velocity: VelocityLimiter::new(VelocityLimits::NONE, Vec::new(), now),
        options: default_options(),
    }))
}

/// Returns the options that `tillgate serve` has by default.
fn default_options() -> GatewayOptions {
    GatewayOptions {
        node: "tx01".to_owned(),
        card_window: SignedDuration::from_hours(24),
        time_limits: TimeLimits {
            authorization_lifetime: SignedDuration::from_hours(168),
            reversal_window: SignedDuration::from_hours(24),
        },
        pending_lifetime: SignedDuration::from_mins(30),
        review_lifetime: SignedDuration::from_hours(24),
        limits: VelocityLimits::NONE,
        retry_rules: Arc::default(),
    }
}
