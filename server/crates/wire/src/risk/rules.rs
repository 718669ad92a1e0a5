//! Versions of risk rules, and changes of rules and lists.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ResultFields, WireTime};

/// A version of rules that was added, or that was stored before.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AddedRules")]
pub struct AddedRulesFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// Name of the version.
    #[schemars(regex(pattern = r"^[0-9a-f]{16}$"))]
    pub version: &'a str,
    /// False if the version was stored before.
    pub added: bool,
}

/// The versions that an entity uses after a change.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UsedRules")]
pub struct UsedRulesFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// The entity's own version that decides.
    pub active: Option<&'a str>,
    /// The entity's own version that only records.
    pub shadow: Option<&'a str>,
}

/// The stored versions of an entity, those in use, and the latest changes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RuleVersions")]
pub struct RuleVersionsFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// The entity's own version that decides.
    pub active: Option<&'a str>,
    /// The entity's own version that only records.
    pub shadow: Option<&'a str>,
    /// The versions that apply to payments of the entity, which may belong to an entity above it.
    pub in_force: RulesInForceFields,
    /// The stored versions.
    pub versions: Vec<RuleVersionFields<'a>>,
    /// The latest changes.
    pub changes: Vec<RuleChangeFields<'a>>,
}

/// The versions that apply to payments of an entity.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RulesInForce")]
pub struct RulesInForceFields {
    /// The version that decides.
    pub active: Option<String>,
    /// The version that only records.
    pub shadow: Option<String>,
    /// True if this build cannot read a version.
    pub unreadable: bool,
}

/// A stored version of rules.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RuleVersion")]
pub struct RuleVersionFields<'a> {
    /// Name of the version.
    #[schemars(regex(pattern = r"^[0-9a-f]{16}$"))]
    pub version: &'a str,
    /// The token or user that added it.
    pub author: &'a str,
    /// Time of the addition.
    pub created: WireTime,
}

/// A change of the rules that an entity uses.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RuleChange")]
pub struct RuleChangeFields<'a> {
    /// The action.
    #[schemars(extend("enum" = ["add", "activate", "shadow"]))]
    pub action: &'a str,
    /// Name of the version.
    pub version: &'a str,
    /// Reason of the change.
    pub reason: &'a str,
    /// The token or user that made the change.
    pub author: &'a str,
    /// Time of the change.
    pub at: WireTime,
}

/// The rules file of a version.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RulesText")]
pub struct RulesTextFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// Name of the version.
    #[schemars(regex(pattern = r"^[0-9a-f]{16}$"))]
    pub version: &'a str,
    /// Text of the file.
    pub rules: &'a str,
}

/// A page of the audit of risk, the latest row first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RiskChanges")]
pub struct RiskChangesFields<'a> {
    /// Result of the request.
    pub result: ResultFields<'a>,
    /// Rows of the audit.
    #[schemars(length(max = 100))]
    pub changes: Vec<RiskChangeFields<'a>>,
    /// Position of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A change of rules or lists, or a limit against card testing that was reached.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RiskChange")]
pub struct RiskChangeFields<'a> {
    /// Subject of the row.
    #[schemars(extend("enum" = ["rules", "list", "limit"]))]
    pub kind: &'a str,
    /// The action.
    pub action: &'a str,
    /// The version; the list, key and value; or the limit and the masked key that it counts.
    pub subject: &'a str,
    /// Reason of the change. Of a limit, its cap.
    pub reason: &'a str,
    /// The token or user. Of a limit, `gateway`.
    pub author: &'a str,
    /// Time of the change.
    pub at: WireTime,
}
