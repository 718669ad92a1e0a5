//! `tillgate dispute`: disputes, as the clearing institute reports them. The commands work on the data folder.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Subcommand};
use tillgate_domain::dispute::Dispute;
use tillgate_domain::dispute::evidence::MAX_FILE;
use tillgate_domain::id::DisputeId;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::dispute::PAGE;
use tillgate_gateway::dispute::decide::DisputeRequest;
use tillgate_os::process;
use tillgate_shared::parameter::Parameters;
use tillgate_store::dispute::DisputeSelection;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::dispute::output::DisputeListOutput;
use crate::cli::dispute::output::describe_dispute;
use crate::cli::dispute::output::describe_evidence;
use crate::cli::dispute::output::format_dispute;
use crate::cli::dispute::output::format_list;
use crate::cli::keys::vault_key::VaultKeyOptions;

/// Disputes about charged payments.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum DisputeCommand {
    /// Open a dispute about a payment, with a chargeback or a retrieval request.
    Open(OpenDispute),
    /// Advance a dispute to the next stage that the institute reports.
    Advance(AdvanceDispute),
    /// List disputes, newest first.
    List(ListDisputes),
    /// Show a dispute with its steps and its evidence.
    Show(ShowDispute),
    /// Add an evidence file to a dispute, or save one.
    Evidence(EvidenceFile),
}

/// Details that the institute reports with a stage.
#[derive(Debug, Args)]
struct ReportOptions {
    /// Disputed or returned amount, in the currency of the payment. Default: the whole amount.
    #[arg(long, value_name = "AMOUNT")]
    amount: Option<String>,
    /// Reason of the chargeback, a result code 000.100.2xx.
    #[arg(long, value_name = "CODE")]
    reason: Option<String>,
    /// Reason code of the card scheme, such as 10.4.
    #[arg(long, value_name = "CODE")]
    scheme_reason: Option<String>,
    /// Days for the merchant's response. Default: the days that the card scheme grants.
    #[arg(long, value_name = "DAYS")]
    response_days: Option<String>,
    /// Note for the merchant, without card numbers.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

/// Open a dispute about a payment. The stage chargeback also creates the chargeback, which changes the balances.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate dispute open --entity 8a01… 8a02… --reason 000.100.203 --scheme-reason 10.4"
)]
pub(in crate::cli) struct OpenDispute {
    #[command(flatten)]
    common: CommonOptions,
    /// The id of the merchant or channel that owns the payment.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// The payment's id.
    #[arg(value_name = "PAYMENT")]
    payment: String,
    /// First stage: chargeback or retrieval-request.
    #[arg(long, value_name = "STAGE", default_value = "chargeback")]
    stage: String,
    #[command(flatten)]
    report: ReportOptions,
}

/// Advance a dispute to the next stage. The stages chargeback and reversal also create the payment.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate dispute advance 8a02… reversal --note 'The bank accepts the evidence'")]
pub(in crate::cli) struct AdvanceDispute {
    #[command(flatten)]
    common: CommonOptions,
    /// The dispute's id.
    #[arg(value_name = "DISPUTE")]
    dispute: String,
    /// Next stage: chargeback, pre-arbitration, reversal, lost or closed.
    #[arg(value_name = "STAGE")]
    stage: String,
    #[command(flatten)]
    report: ReportOptions,
}

/// List the disputes of all entities or of one entity.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate dispute list --entity 8a01… --state all")]
pub(in crate::cli) struct ListDisputes {
    #[command(flatten)]
    common: CommonOptions,
    /// Id of a merchant or channel.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
    /// State of the disputes: open, ended or all.
    #[arg(long, value_name = "STATE", default_value = "open", value_parser = ["open", "ended", "all"])]
    state: String,
    /// Dispute after which the list begins: the last dispute of the previous list.
    #[arg(long, value_name = "DISPUTE")]
    after: Option<String>,
    /// Maximum number of disputes.
    #[arg(long, value_name = "N", default_value_t = PAGE)]
    limit: usize,
}

/// Show a dispute.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate dispute show 8a02…")]
pub(in crate::cli) struct ShowDispute {
    #[command(flatten)]
    common: CommonOptions,
    /// The dispute's id.
    #[arg(value_name = "DISPUTE")]
    dispute: String,
}

/// Add an evidence file (PDF, PNG or JPEG) to a dispute, or save one in a new file.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate dispute evidence 8a02… --add receipt.pdf\n  tillgate dispute evidence 8a02… --save 8a03… --output receipt.pdf"
)]
pub(in crate::cli) struct EvidenceFile {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// The dispute's id.
    #[arg(value_name = "DISPUTE")]
    dispute: String,
    /// The file to add.
    #[arg(long, value_name = "FILE", required_unless_present = "save", conflicts_with = "save")]
    add: Option<PathBuf>,
    /// Id of the evidence file to save.
    #[arg(long, value_name = "EVIDENCE", requires = "output")]
    save: Option<String>,
    /// New file to save the evidence in.
    #[arg(long, value_name = "FILE", requires = "save")]
    output: Option<PathBuf>,
}

impl DisputeCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Open(command) => command.run(),
            Self::Advance(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Evidence(command) => command.run(),
        }
    }
}

impl ReportOptions {
    /// Reads the request with this stage, whose name may be in lower case with hyphens.
    fn to_request(&self, stage: &str) -> anyhow::Result<DisputeRequest> {
        let stage = stage.to_ascii_uppercase().replace('-', "_");
        let pairs = [
            ("amount", self.amount.as_deref()),
            ("chargebackResultCode", self.reason.as_deref()),
            ("schemeReasonCode", self.scheme_reason.as_deref()),
            ("responseDays", self.response_days.as_deref()),
            ("note", self.note.as_deref()),
            ("stage", Some(stage.as_str())),
        ];
        let parameters: Parameters = pairs.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect();
        DisputeRequest::from_institute(&parameters, &parameters, process::describe_user()).map_err(describe_refusal)
    }
}

impl OpenDispute {
    fn run(self) -> anyhow::Result<()> {
        let request = self.report.to_request(&self.stage)?;
        let administration = self.common.open_administration()?;
        let entity = parse_entity_id(&self.entity)?;
        let opened = administration.open_dispute(&entity, &self.payment, request).map_err(describe_failure)?;
        print_dispute(&self.common, &administration, &opened)
    }
}

impl AdvanceDispute {
    fn run(self) -> anyhow::Result<()> {
        let request = self.report.to_request(&self.stage)?;
        let administration = self.common.open_administration()?;
        let advanced = administration.advance_dispute(&self.dispute, request).map_err(describe_failure)?;
        print_dispute(&self.common, &administration, &advanced)
    }
}

impl ListDisputes {
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entities = match &self.entity {
            Some(entity) => vec![administration.load_entity(&parse_entity_id(entity)?)?.id],
            None => Vec::new(),
        };
        let after = self.after.as_deref().map(|id| DisputeId::parse(id).ok_or_else(|| anyhow!("{id} is no dispute")));
        let is_open = match self.state.as_str() {
            "open" => Some(true),
            "ended" => Some(false),
            _ => None,
        };
        let selection = DisputeSelection { entities, is_open, after: after.transpose()?, limit: self.limit };
        let disputes = administration.load_disputes(&selection)?;
        let next = disputes.last().filter(|_| disputes.len() == self.limit).map(|dispute| dispute.id.to_string());
        let output = DisputeListOutput { disputes: disputes.iter().map(describe_dispute).collect(), next };
        self.common.print_output(&output, format_list)
    }
}

impl ShowDispute {
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let dispute = administration.load_dispute(&self.dispute).map_err(describe_failure)?;
        print_dispute(&self.common, &administration, &dispute)
    }
}

impl EvidenceFile {
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let dispute = administration.load_dispute(&self.dispute).map_err(describe_failure)?;
        match (&self.add, &self.save, &self.output) {
            (Some(file), ..) => self.add_file(&administration, &dispute, file),
            (None, Some(id), Some(output)) => self.save_file(&administration, &dispute, id, output),
            _ => bail!("name a file with --add, or an evidence file with --save and --output"),
        }
    }

    fn add_file(&self, administration: &Administration, dispute: &Dispute, file: &PathBuf) -> anyhow::Result<()> {
        let size = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len();
        anyhow::ensure!(size <= MAX_FILE as u64, "{} is larger than {MAX_FILE} bytes", file.display());
        let content = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let added = administration.add_evidence(dispute, (name, content), process::describe_user());
        let evidence = added.map_err(describe_failure)?;
        self.common.print_output(&describe_evidence(&evidence), |output| format!("{}  {}", output.id, output.name))
    }

    fn save_file(
        &self,
        administration: &Administration,
        dispute: &Dispute,
        id: &str,
        output: &PathBuf,
    ) -> anyhow::Result<()> {
        let (evidence, content) = administration.open_evidence(dispute, id)?;
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(output)
            .with_context(|| format!("cannot create {}", output.display()))?;
        file.write_all(&content).with_context(|| format!("cannot write {}", output.display()))?;
        self.common.print_output(&describe_evidence(&evidence), |_| format!("saved in {}", output.display()))
    }
}

/// Prints a dispute with its evidence.
fn print_dispute(common: &CommonOptions, administration: &Administration, dispute: &Dispute) -> anyhow::Result<()> {
    let evidence = administration.load_evidence_list(dispute)?;
    let mut output = describe_dispute(dispute);
    output.evidence = evidence.iter().map(describe_evidence).collect();
    common.print_output(&output, format_dispute)
}

/// Describes the failure of an act; its refusal as [`describe_refusal`] does.
fn describe_failure(error: ActError) -> anyhow::Error {
    match error {
        ActError::Failed(Failure::Refused(refusal)) => describe_refusal(*refusal),
        other => other.into(),
    }
}

/// Describes a refusal by the options at fault, or by its description.
fn describe_refusal(refusal: Refusal) -> anyhow::Error {
    let option_of = |name: &str| match name {
        "chargebackResultCode" => "--reason".to_owned(),
        "schemeReasonCode" => "--scheme-reason".to_owned(),
        "responseDays" => "--response-days".to_owned(),
        "paymentId" => "the payment".to_owned(),
        "stage" => "the stage".to_owned(),
        "file" | "Content-Type" => "the file".to_owned(),
        name => format!("--{name}"),
    };
    let errors: Vec<String> =
        refusal.parameters.iter().map(|error| format!("{} {}", option_of(&error.name), error.message)).collect();
    if errors.is_empty() {
        let description = refusal.description.unwrap_or(refusal.code.description().into());
        return anyhow!("{description}");
    }
    anyhow!("{}", errors.join("; "))
}
