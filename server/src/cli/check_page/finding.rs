//! A fault of a page, with the line that corrects it.

use clap::ValueEnum;
use serde::{Serialize, Serializer};

use crate::cli::table::to_printable;

/// Longest text of a page that a finding repeats, in characters.
const MAX_CHARACTERS: usize = 300;

/// Maximum number of findings of a page. Nobody reads more at once.
const MAX_FINDINGS: usize = 100;

/// A kind of fault. Its name on the command line has hyphens, and docs/check-page.md has a row for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FindingKind {
    /// The page has no doctype of HTML5.
    Doctype,
    /// The page does not name its language.
    Language,
    /// The page does not name the direction of its language.
    Direction,
    /// The page has no viewport for phones.
    ViewportMissing,
    /// Shoppers cannot enlarge the page.
    ViewportZoom,
    /// The page is not encrypted.
    PageWithoutTls,
    /// The page has no script of the form.
    ScriptMissing,
    /// The page has several scripts of the form.
    ScriptTwice,
    /// The browser does not run the script as a classic script.
    ScriptType,
    /// The script's address is in another attribute than `src`.
    ScriptAttribute,
    /// The script's address is not that of the form.
    ScriptAddress,
    /// The script's address does not name a checkout.
    ScriptCheckout,
    /// The script is not encrypted, and the page is.
    ScriptMixed,
    /// The script belongs to another gateway.
    ScriptGateway,
    /// The gateway does not send the script.
    ScriptSilent,
    /// The gateway's answer does not allow pages of other origins.
    ScriptCors,
    /// The gateway does not list its scripts.
    GatewaySilent,
    /// The script has no hash.
    IntegrityMissing,
    /// The script's hash is another one.
    IntegrityWrong,
    /// The browser cannot check the hash.
    CrossoriginMissing,
    /// The page has no place for the form.
    FormMissing,
    /// The place for the form is no `form`.
    FormElement,
    /// The place for the form is inside another form.
    FormNested,
    /// The brands are in another attribute than `data-brands`.
    FormAttribute,
    /// A brand does not exist.
    BrandUnknown,
    /// A policy forbids scripts of the form.
    CspScriptSrc,
    /// A policy forbids the form's style sheet.
    CspStyleSrc,
    /// A policy forbids the form's frames.
    CspFrameSrc,
    /// A policy forbids WebAssembly.
    CspWasm,
    /// A policy forbids the pages of issuers and brands.
    CspFormAction,
    /// A policy forbids the script with the options.
    CspInlineOptions,
    /// A policy forbids the form's Trusted Types policy.
    CspTrustedTypes,
    /// A policy takes something from the page that the form needs.
    CspSandbox,
    /// The page sends its whole address to other sites.
    ReferrerPolicy,
    /// The page loses the windows of brands.
    OpenerPolicy,
    /// The page denies the frames a permission.
    PermissionsPolicy,
}

impl Serialize for FindingKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl FindingKind {
    /// Returns its name, such as `script-missing`.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// A fault of a page. The texts have no character that could change what a terminal shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// Kind of the fault.
    pub(super) kind: FindingKind,
    /// Sentence about the fault.
    pub(super) message: String,
    /// Line that corrects the fault: markup, or a header.
    pub(super) line: String,
}

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    /// Adds a finding, once.
    pub(super) fn add(&mut self, kind: FindingKind, message: impl AsRef<str>, line: impl AsRef<str>) {
        let finding = Finding { kind, message: shorten(message.as_ref()), line: shorten(line.as_ref()) };
        // A hostile page may have a fault in every element.
        if self.0.len() < MAX_FINDINGS && !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }

    /// Returns the findings, in the order in which they were added.
    pub(super) fn into_vec(self) -> Vec<Finding> {
        self.0
    }
}

/// Makes a text that may come from a page fit for a terminal, and cuts its middle if it is long.
fn shorten(text: &str) -> String {
    let text = to_printable(text);
    let length = text.chars().count();
    if length <= 2 * MAX_CHARACTERS {
        return text;
    }
    let head: String = text.chars().take(MAX_CHARACTERS).collect();
    let tail: String = text.chars().skip(length - MAX_CHARACTERS).collect();
    format!("{head} … {tail}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_page_cannot_steer_a_terminal() {
        let mut findings = Findings::default();
        findings.add(FindingKind::BrandUnknown, "a\x1b[2Jb\r\n\u{9b}31m\u{202e}c", "x".repeat(100_000));
        let findings = findings.into_vec();
        assert_eq!(findings[0].message, "a\u{fffd}[2Jb\u{fffd}\u{fffd}\u{fffd}31m\u{fffd}c");
        assert!(findings[0].line.chars().count() < 700);
    }

    #[test]
    fn the_document_has_a_row_for_every_finding_and_for_no_other() {
        let document = include_str!("../../../../docs/check-page.md");
        let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let documented: Vec<&str> = rows.map(|(name, _)| name).collect();
        let known: Vec<String> = FindingKind::value_variants().iter().map(|kind| kind.name()).collect();
        assert_eq!(documented, known);
    }
}
