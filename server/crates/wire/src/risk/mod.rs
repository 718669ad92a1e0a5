//! Risk rules, their lists, dry runs, and the audit of their changes.

mod dry_run;
mod lists;
mod rules;

pub use dry_run::{DryRunProgressFields, DryRunProgressLine, DryRunReportLine};
pub use lists::{ChangedListEntryFields, ListEntriesFields};
pub use rules::{
    AddedRulesFields, RiskChangeFields, RiskChangesFields, RuleChangeFields, RuleVersionFields, RuleVersionsFields,
    RulesInForceFields, RulesTextFields, UsedRulesFields,
};
