//! Risk rules of the demo shop: its orders are checked, and an order with suspicious data is held for review.

use anyhow::{Context as _, anyhow};
use jiff::Timestamp;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::ReviewPolicy;
use tillgate_domain::risk::rules::{RiskChange, VersionRole};
use tillgate_risk::RuleSet;
use tillgate_store::AdminStore;
use tillgate_store::risk::rules::RiskKeys;

/// The rules file.
const RULES: &str = include_str!("demo_rules.toml");

/// Switches the risk check of the demo merchant on, holds the payments that should be reviewed, and lets the demo's
/// rules decide. Does nothing if the merchant has rules already, so that a visitor may change them.
pub(in crate::cli) fn ensure_demo_rules(store: &AdminStore, merchant: &EntityId) -> anyhow::Result<()> {
    store.in_transaction(|store| {
        let mut entity = store.load_entity(merchant)?.with_context(|| format!("there is no entity {merchant}"))?;
        let keys = RiskKeys { entity: entity.id.clone(), position: None, now: Timestamp::now() + entity.ahead };
        if !store.load_risk_state(&keys)?.versions.is_empty() {
            return Ok(());
        }
        let rules = RuleSet::parse(RULES).map_err(|errors| anyhow!("the demo's rules: {errors:?}"))?;
        let version = rules.version().to_string();
        let write_change = |action| {
            let (entity, author) = (entity.id.clone(), "demo".to_owned());
            store.apply_risk_change(&RiskChange { entity, action, reason: String::new(), author, at: keys.now })
        };
        let added = store.load_risk_state(&keys)?.add_version(&version, RULES.to_owned());
        write_change(added.context("the merchant has no rules yet")?)?;
        let used = store.load_risk_state(&keys)?.use_version(VersionRole::Active, Some(&version));
        write_change(used.map_err(|refusal| anyhow!("{refusal:?}"))?)?;
        entity.settings.channel.risk = true;
        entity.settings.channel.risk_settings.review = ReviewPolicy::Hold;
        store.update_entity(&entity)?;
        Ok(())
    })
}
