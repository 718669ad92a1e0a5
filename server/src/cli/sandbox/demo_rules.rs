//! Risk rules of the demo shop: its orders are checked, and an order with suspicious data is held for review.

use anyhow::anyhow;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::ReviewPolicy;
use tillgate_domain::risk::rules::VersionRole;
use tillgate_gateway::access::channel_settings::ChannelChange;
use tillgate_gateway::access::entity::EntityChange;
use tillgate_gateway::access::settings::SettingsChange;
use tillgate_gateway::administration::Administration;
use tillgate_gateway::risk::versions::{ChangeNote, RulesFile};
use tillgate_risk::RuleSet;

/// The rules file.
const RULES: &str = include_str!("demo_rules.toml");

/// Author of the demo's rules in the decision log.
const AUTHOR: &str = "demo";

/// Switches the risk check of the demo merchant on, holds the payments that should be reviewed, and lets the demo's
/// rules decide. Does nothing if rules were used or added by somebody else, so that a visitor may change them. The
/// rules are used last, so that a start which was interrupted is completed by the next one.
pub(in crate::cli) fn ensure_demo_rules(administration: &Administration, merchant: &EntityId) -> anyhow::Result<()> {
    let entity = administration.load_entity(merchant)?;
    let (_, changes) = administration.load_rule_versions(&entity)?;
    if changes.iter().any(|change| change.action != "add" || change.author != AUTHOR) {
        return Ok(());
    }
    let channel = ChannelChange { risk: Some(true), review: Some(ReviewPolicy::Hold), ..ChannelChange::default() };
    let settings = SettingsChange { channel, ..SettingsChange::default() };
    administration.change_entity(merchant, &EntityChange { settings, ..EntityChange::default() }, |_| Ok(()))?;
    let rules = RuleSet::parse(RULES).map_err(|errors| anyhow!("the demo's rules: {errors:?}"))?;
    let file = RulesFile { name: "demo_rules.toml", text: RULES, rules: &rules };
    administration.add_rules(&entity, &file, AUTHOR.to_owned())?;
    let note = ChangeNote { author: AUTHOR.to_owned(), reason: String::new() };
    administration.use_rules(&entity, VersionRole::Active, Some(&rules.version().to_string()), note)?;
    Ok(())
}
