//! `tillgate review-callback test`: a sample decision, queued like a real one or sent at once.

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;
use tillgate_delivery::review_callback::{create_sample, render_body};
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::review::decision::DecisionType;
use tillgate_net::outgoing::ExpectingPost;

use crate::cli::access::token::parse_entity_id;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::options::load_existing_entity;
use crate::cli::review::callback::find_config;
use crate::cli::review::callback::{ActorOptions, AddressOptions};
use crate::cli::serve::create_runtime;
use crate::cli::{CommonOptions, open_existing};

/// The decision of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SampleDecision {
    Approve,
    Cancel,
    Pending,
}

/// Send a sample decision to the active destination. A running server delivers it like a real callback, with retries
/// and the failed list. Its transaction id begins with SAMPLE-, and its user is `sample`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate review-callback test --data ./tillgate-data --entity 8a01… --decision cancel\n  \
    tillgate review-callback test --data ./tillgate-data --entity 8a01… --now"
)]
pub(in crate::cli) struct TestCallback {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    #[command(flatten)]
    actor: ActorOptions,
    #[command(flatten)]
    addresses: AddressOptions,
    /// The entity of the sample payment.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The decision.
    #[arg(long, value_enum, ignore_case = true, default_value = "approve")]
    decision: SampleDecision,
    /// Send it once from here, without the outbox, and show how it was taken.
    #[arg(long)]
    now: bool,
}

/// A sent or queued sample in the output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SampleOutput {
    transaction_id: String,
    url: String,
    /// The message in the outbox. `None` if the sample was sent at once.
    message_id: Option<String>,
    /// The status of the response. `None` if the sample is queued.
    status: Option<u16>,
}

impl TestCallback {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_existing_entity(&store, &parse_entity_id(&self.entity)?)?;
        let (_, vault) = self.vault.open_vault(&store, &self.common.data)?;
        let (stored, config) = find_config(&store, &vault, &entity)?;
        let url = config.active_url().context("the configuration has no destination")?;
        let decision = match self.decision {
            SampleDecision::Approve => DecisionType::Approve,
            SampleDecision::Cancel => DecisionType::Cancel,
            SampleDecision::Pending => DecisionType::Pending,
        };
        let now = Timestamp::now();
        let document = create_sample(&entity.id, decision, now + entity.ahead).context("there is no sample")?;
        let transaction_id = document.decision.transaction_id.clone();
        let mut output = SampleOutput { transaction_id, url: url.to_owned(), message_id: None, status: None };
        if self.now {
            let target = TargetUrl::parse(url).with_context(|| format!("{url} is no address"))?;
            let body = render_body(&config, &document);
            let post = ExpectingPost { uri: target.uri(), headers: &config.user_headers(), body: &body };
            let client = self.addresses.create_client()?;
            let response = create_runtime()?.block_on(client.send_expecting(&post)).with_context(|| url.to_owned())?;
            let status = response.status.as_u16();
            ensure!(config.accepted.contains(&status), "{url} answered {status}, which is not among `accepted`");
            output.status = Some(status);
        } else {
            let message = store.in_transaction(|store| {
                let message = store.queue_review_callback(&stored.entity, &document)?;
                let (owner, actor) = (stored.entity.as_str(), self.actor.name());
                store.record_callback_action(owner, "test", actor, Some(message.as_str()), None, now)?;
                anyhow::Ok(message)
            })?;
            output.message_id = Some(message.to_string());
        }
        self.common.print_output(&output, |output| match (&output.message_id, output.status) {
            (Some(message), _) => format!("{message} is queued for {}: {}", output.url, output.transaction_id),
            (None, status) => {
                format!("{} took {} with {}", output.url, output.transaction_id, status.unwrap_or_default())
            }
        })
    }
}
