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

/// Switches the risk check of the demo merchant on, holds the payments that should be reviewed, and lets the demo's
/// rules decide. Does nothing if the merchant has rules already, so that a visitor may change them.
pub(in crate::cli) fn ensure_demo_rules(administration: &Administration, merchant: &EntityId) -> anyhow::Result<()> {
    let entity = administration.load_entity(merchant)?;
    if !administration.load_rule_versions(&entity)?.0.versions.is_empty() {
        return Ok(());
    }
    let rules = RuleSet::parse(RULES).map_err(|errors| anyhow!("the demo's rules: {errors:?}"))?;
    let author = "demo".to_owned();
    let file = RulesFile { name: "demo_rules.toml", text: RULES, rules: &rules };
    administration.add_rules(&entity, &file, author.clone())?;
    let note = ChangeNote { author, reason: String::new() };
    administration.use_rules(&entity, VersionRole::Active, Some(&rules.version().to_string()), note)?;
    let channel = ChannelChange { risk: Some(true), review: Some(ReviewPolicy::Hold), ..ChannelChange::default() };
    let settings = SettingsChange { channel, ..SettingsChange::default() };
    administration.change_entity(merchant, &EntityChange { settings, ..EntityChange::default() }, |_| Ok(()))?;
    Ok(())
}
