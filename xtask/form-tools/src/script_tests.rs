//! Tests of the form's JavaScript as a whole: the linter has no complaint, and the scripts of the frames speak the
//! messages of [`tillgate_shared::frame_messages`].
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use oxc::allocator::Allocator;
use oxc::ast::AstKind;
use oxc::ast::ast::{Argument, Expression};
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use tillgate_shared::frame_messages::{FieldMessage, FieldReport, RelayCall, RelayReport};

use super::modules::join_modules;

/// Name of the function with which a frame sends a message to the page. Its first argument is the type.
const SENDER: &str = "sendToPage";
/// Name of the object with the handlers of a frame, by the types of the messages.
const HANDLERS: &str = "handlers";

fn widget() -> PathBuf {
    crate::workspace_root().join("widget")
}

/// Types that a script of the frames sends, and types that it handles.
#[derive(Default)]
struct Vocabulary {
    sent: BTreeSet<String>,
    handled: BTreeSet<String>,
}

impl Vocabulary {
    /// Reads the scripts with these entry modules, which speak for the same frames.
    fn of_scripts(entries: &[&str]) -> Self {
        let mut found = Self::default();
        for entry in entries {
            found.add_script(&join_modules(&widget().join("frame").join(entry).canonicalize().unwrap()).unwrap());
        }
        found
    }

    fn add_script(&mut self, source: &str) {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, source, SourceType::script()).parse();
        let semantic = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program).semantic;
        for node in semantic.nodes() {
            match node.kind() {
                AstKind::CallExpression(call) if call.callee_name() == Some(SENDER) => match call.arguments.first() {
                    Some(Argument::StringLiteral(name)) => drop(self.sent.insert(name.value.to_string())),
                    _ => panic!("a message whose type is not written there"),
                },
                AstKind::VariableDeclarator(variable) => {
                    let is_table = variable.id.get_identifier_name().is_some_and(|name| name == HANDLERS);
                    if let Some(Expression::ObjectExpression(table)) = variable.init.as_ref().filter(|_| is_table) {
                        let names = table.properties.iter().map(|row| row.as_property().unwrap().key.static_name());
                        self.handled.extend(names.map(|name| name.unwrap().into_owned()));
                    }
                }
                _ => {}
            }
        }
    }
}

fn set_of(types: &[&str]) -> BTreeSet<String> {
    types.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_frames_and_the_page_module_speak_the_same_messages() {
    let fields = Vocabulary::of_scripts(&["digits.js", "text.js", "checks.js"]);
    // The script that hands over the page's fonts sends them, and not the page module.
    let handled: BTreeSet<String> = fields.handled.iter().filter(|name| *name != "fonts").cloned().collect();
    assert_eq!(handled, set_of(FieldMessage::TYPES));
    assert_eq!(fields.sent, set_of(FieldReport::<()>::TYPES));
    let relay = Vocabulary::of_scripts(&["relay.js"]);
    assert_eq!(relay.handled, set_of(RelayCall::TYPES));
    assert_eq!(relay.sent, set_of(RelayReport::<()>::TYPES));
}

#[test]
fn the_linter_has_no_complaint() {
    let Some(linter) = std::env::var_os("TILLGATE_OXLINT") else {
        panic!(
            "TILLGATE_OXLINT does not name the linter; `cargo xtask test` does, \
             by hand: npm install oxlint, then node_modules/oxlint/bin/oxlint"
        );
    };
    let mut command = Command::new("node");
    command.arg(linter).args([
        "--config",
        ".oxlintrc.json",
        "--deny-warnings",
        "advance",
        "choice",
        "debit",
        "fault",
        "fonts",
        "frame",
        "loader",
        "npm",
        "parts",
    ]);
    let output = command.current_dir(widget()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    // An unknown rule or a wrong path would also be silence.
    assert!(said.contains("Found 0 warnings and 0 errors"), "{said}");
}
