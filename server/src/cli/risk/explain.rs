//! `tillgate risk explain`: the decision of a payment's risk check.

use clap::Args;
use serde::Serialize;
use tillgate_domain::risk::{RiskDecision, ShadowDecision};

use crate::cli::CommonOptions;
use crate::cli::payment::PaymentPlace;

/// Show the decision of a payment's risk check: outcome, score, the rules that fired, and the names of their inputs.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate risk explain --entity 8a01… 8a02… --data ./tillgate-data")]
pub(in crate::cli) struct ExplainPayment {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    place: PaymentPlace,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExplanationOutput {
    payment_id: String,
    result: &'static str,
    /// `None` if the payment was not checked.
    decision: Option<RiskDecision>,
    /// Decision of the shadow version.
    shadow: Option<ShadowDecision>,
}

impl ExplainPayment {
    /// Prints the decision that is stored with the payment.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let (entity, id) = self.place.parse()?;
        let entity = administration.load_entity(&entity)?;
        let payment = administration.load_payment(&entity.id, &id)?;
        let (decision, shadow) = payment.risk.map_or((None, None), |risk| (risk.decision, risk.shadow));
        let output = ExplanationOutput { payment_id: id.to_string(), result: payment.result.code(), decision, shadow };
        self.common.print_output(&output, format_explanation)
    }
}

fn format_explanation(output: &ExplanationOutput) -> String {
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let Some(decision) = &output.decision else {
        return format!("{} was not checked\n  result   {}", output.payment_id, output.result);
    };
    let RiskDecision { outcome, score, version, fired, inputs, .. } = decision;
    let mut lines = vec![
        format!("{}  score {score}", outcome.as_str()),
        format!("  fired    {}", list(fired)),
        format!("  inputs   {}", list(inputs)),
        format!("  version  {}", version.as_deref().unwrap_or("none")),
        format!("  result   {}", output.result),
    ];
    if let Some(ShadowDecision { outcome, score, version, fired }) = &output.shadow {
        lines.push(format!("  shadow   {}  score {score}  version {version}  fired {}", outcome.as_str(), list(fired)));
    }
    lines.join("\n")
}
