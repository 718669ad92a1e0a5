//! `tillgate risk add`, `versions`, `show`, `activate` and `shadow`: the stored versions of an entity's risk rules.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use tillgate_domain::risk::list::{check_reason, parse_author};
use tillgate_domain::risk::rules::VersionRole;
use tillgate_gateway::risk::versions::{ChangeNote, RulesFile};
use tillgate_os::process;
use tillgate_store::risk::decision_log::DecisionLogRow;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::risk::rules_file::load_rules;

/// The name for no version.
const NONE: &str = "none";

/// The author of a change, for the decision log.
#[derive(Debug, Args)]
pub(in crate::cli) struct AuthorOptions {
    /// Name in the decision log. Default: the user who runs the command.
    #[arg(long, value_name = "NAME", value_parser = parse_author)]
    author: Option<String>,
}

impl AuthorOptions {
    /// Returns the name that was given, or that of the user who runs the command.
    pub(in crate::cli) fn find_author(&self) -> String {
        self.author.clone().unwrap_or_else(process::find_user)
    }
}

/// Check a rules file, and store it as a version of an entity. It decides nothing until `risk activate`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate risk add --entity 8a01… rules.toml --data ./tillgate-data")]
pub(in crate::cli) struct AddRules {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    author: AuthorOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Rules file. `-` is the standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// List the versions of an entity, and the latest changes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate risk versions --entity 8a01… --data ./tillgate-data")]
pub(in crate::cli) struct ListRuleVersions {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// Print the rules file of a version.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate risk show --entity 8a01… 0123456789abcdef --data ./tillgate-data")]
pub(in crate::cli) struct ShowRules {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Version, from `risk versions`.
    #[arg(value_name = "VERSION")]
    version: String,
}

/// Use a version. A running server applies it within a second.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate risk activate --entity 8a01… 0123456789abcdef --data ./tillgate-data\n  tillgate risk shadow --entity 8a01… none --data ./tillgate-data"
)]
pub(in crate::cli) struct UseRules {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    author: AuthorOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Version, from `risk versions`. `none` uses the version of the entity above.
    #[arg(value_name = "VERSION|none")]
    version: String,
    /// Reason in the decision log.
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = check_reason)]
    reason: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedRules {
    entity_id: String,
    version: String,
    /// False if the version was stored before.
    added: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleVersionsOutput {
    entity_id: String,
    active: Option<String>,
    shadow: Option<String>,
    versions: Vec<RuleVersionOutput>,
    changes: Vec<DecisionLogRow>,
}

#[derive(Serialize)]
struct RuleVersionOutput {
    version: String,
    author: String,
    created: Timestamp,
}

#[derive(Serialize)]
struct RulesTextOutput {
    version: String,
    rules: String,
}

impl AddRules {
    /// Stores a version of an entity's rules, and prints its name. A broken file stores nothing.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let (text, rules) = load_rules(&self.common, &self.file)?;
        let name = self.file.display().to_string();
        let file = RulesFile { name: &name, text: &text, rules: &rules };
        let added = AddedRules {
            entity_id: entity.id.to_string(),
            version: rules.version().to_string(),
            added: administration.add_rules(&entity, &file, self.author.find_author())?,
        };
        self.common.print_output(&added, |AddedRules { entity_id, version, added }| {
            let state = if *added { "" } else { " is stored already" };
            format!("{version}{state}\n\nIt decides after: tillgate risk activate --entity {entity_id} {version}")
        })
    }
}

impl ListRuleVersions {
    /// Prints an entity's versions, oldest first, those in use, and the latest changes.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let (state, changes) = administration.load_rule_versions(&entity)?;
        let describe = |known: tillgate_domain::risk::rules::RuleVersionSummary| RuleVersionOutput {
            version: known.version,
            author: known.author,
            created: known.created,
        };
        let output = RuleVersionsOutput {
            entity_id: entity.id.to_string(),
            active: state.active,
            shadow: state.shadow,
            versions: state.versions.into_iter().map(describe).collect(),
            changes,
        };
        self.common.print_output(&output, format_versions)
    }
}

fn format_versions(output: &RuleVersionsOutput) -> String {
    let role =
        |version: &String| match (Some(version) == output.active.as_ref(), Some(version) == output.shadow.as_ref()) {
            (true, true) => "active, shadow",
            (true, false) => "active",
            (false, true) => "shadow",
            (false, false) => "",
        };
    let versions = output.versions.iter().map(|known| {
        format!("{}  {:.0}  {}  {}", known.version, known.created, known.author, role(&known.version))
            .trim_end()
            .to_owned()
    });
    let changes = output.changes.iter().map(DecisionLogRow::format_line);
    versions.chain(["\nchanges".to_owned()]).chain(changes).collect::<Vec<_>>().join("\n")
}

impl ShowRules {
    /// Prints the text of a version, as it was added.
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let rules = administration.load_rules_text(&entity.id, &self.version)?;
        let output = RulesTextOutput { version: self.version, rules };
        self.common.print_output(&output, |output| output.rules.trim_end().to_owned())
    }
}

impl UseRules {
    /// Uses a version of the entity, or none of its own, in a role.
    pub(in crate::cli) fn run(self, role: VersionRole) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let version = Some(self.version.as_str()).filter(|version| *version != NONE);
        let note = ChangeNote { author: self.author.find_author(), reason: self.reason };
        administration.use_rules(&entity, role, version, note)?;
        let used = serde_json::json!({
            "entityId": entity.id.to_string(),
            match role { VersionRole::Active => "active", VersionRole::Shadow => "shadow" }: version,
        });
        self.common.print_output(&used, |_| match (role, version) {
            (VersionRole::Active, Some(version)) => format!("{version} is active"),
            (VersionRole::Shadow, Some(version)) => format!("{version} is in shadow mode"),
            (VersionRole::Active, None) => {
                "the entity has no active version, and uses the version of the entity above if there is one".to_owned()
            }
            (VersionRole::Shadow, None) => {
                "the entity has no shadow version, and uses the version of the entity above if there is one".to_owned()
            }
        })
    }
}
