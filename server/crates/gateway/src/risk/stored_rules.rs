//! Compilation of the stored versions of risk rules, for the directory.

use std::sync::Arc;

use tillgate_domain::id::EntityId;
use tillgate_risk::RuleSet;
use tillgate_store::entity_directory::CompiledVersion;

/// Compiles the text of an entity's version. Logs an error and returns `None` if this release cannot read it.
pub fn compile_stored_rules(entity: &EntityId, version: &str, text: &str) -> CompiledVersion {
    let entity = entity.as_str();
    match RuleSet::parse_stored(text) {
        Ok(rules) => {
            if let Some(rule) = rules.find_longer_bin() {
                tracing::warn!(entity, version, rule, "a risk rule compares `bin`, which has six digits, with more");
            }
            Some(Arc::new(rules))
        }
        Err(errors) => {
            let error = errors.first().map(ToString::to_string).unwrap_or_default();
            tracing::error!(entity, version, error, "a version of risk rules cannot be read");
            None
        }
    }
}
