//! `tillgate review-callback test`: a sample decision, queued like a real one or sent at once.

use clap::{Args, ValueEnum};
use serde::Serialize;
use tillgate_domain::review::decision::DecisionType;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::review::callback::{ActorOptions, AddressOptions};
use crate::cli::serve::create_runtime;

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
    /// Send the sample directly from this command, once and without the outbox, and show the response.
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
        let administration = self.vault.open_administration(&self.common.place)?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let decision = match self.decision {
            SampleDecision::Approve => DecisionType::Approve,
            SampleDecision::Cancel => DecisionType::Cancel,
            SampleDecision::Pending => DecisionType::Pending,
        };
        let sample = administration.prepare_sample_callback(&entity, decision)?;
        let transaction_id = sample.transaction_id().to_owned();
        let mut output = SampleOutput { transaction_id, url: sample.url.clone(), message_id: None, status: None };
        if self.now {
            let client = self.addresses.create_client()?;
            output.status = Some(create_runtime()?.block_on(sample.send(&client))?);
        } else {
            let message = administration.queue_sample_callback(&sample, self.actor.name())?;
            output.message_id = Some(message.to_string());
        }
        self.common.print_output(&output, |output| match (&output.message_id, output.status) {
            (Some(message), _) => format!("{message} is queued for {}: {}", output.url, output.transaction_id),
            (None, status) => {
                format!("{} accepted {} with {}", output.url, output.transaction_id, status.unwrap_or_default())
            }
        })
    }
}
