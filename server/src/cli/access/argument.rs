//! The older form of commands about an entity, which takes its id as the first argument in place of `--entity`. Scripts
//! of operators have it, so it still works, but no help text shows it.

use std::ffi::{OsStr, OsString};

use clap::Command;
use tillgate_domain::id::EntityId;

/// Puts `--entity` before an entity's id that is the first argument of a command with that option. Leaves everything
/// else as it is: the parser reports what is wrong.
pub(in crate::cli) fn name_entity(program: &Command, mut arguments: Vec<OsString>) -> Vec<OsString> {
    let (mut command, mut at) = (program, 1);
    while let Some(inner) = arguments.get(at).and_then(|name| command.find_subcommand(name)) {
        (command, at) = (inner, at + 1);
    }
    let takes_entity = command.get_arguments().any(|argument| argument.get_long() == Some("entity"));
    if takes_entity && let Some(position) = find_unnamed_entity(command, &arguments, at) {
        arguments.insert(position, "--entity".into());
    }
    arguments
}

/// Finds the entity's id among the arguments of a command, which begin at `from`: the first one that is no option and
/// no value of an option, if it is an id or one more than the command takes.
fn find_unnamed_entity(command: &Command, arguments: &[OsString], from: usize) -> Option<usize> {
    let mut positions = Vec::new();
    let mut rest = arguments.iter().enumerate().skip(from).take_while(|(_, text)| *text != "--");
    while let Some((position, text)) = rest.next() {
        match text.to_str().and_then(|text| text.strip_prefix("--")) {
            Some(option) if option == "entity" || option.starts_with("entity=") => return None,
            Some(option) if needs_value(command, option) => _ = rest.next(),
            Some(_) => {}
            None => positions.push(position),
        }
    }
    let first = *positions.first()?;
    let is_id = |text: &OsStr| text.to_str().is_some_and(|text| EntityId::parse(text).is_some());
    let is_surplus = positions.len() > command.get_positionals().count();
    (is_surplus || is_id(&arguments[first])).then_some(first)
}

/// Returns true if the next argument is the value of this option, which is given without `--`.
fn needs_value(command: &Command, option: &str) -> bool {
    let known = command.get_arguments().find(|argument| argument.get_long() == Some(option));
    known.is_some_and(|argument| {
        let is_optional = argument.get_num_args().is_some_and(|count| count.min_values() == 0);
        argument.get_action().takes_values() && !is_optional
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::CommandFactory as _;

    use crate::cli::Cli;
    use crate::cli::access::argument::*;

    /// Returns the arguments after the change, as one text without the program.
    fn named(line: &str) -> String {
        let arguments = std::iter::once("tillgate").chain(line.split(' ')).map(OsString::from).collect();
        let changed = name_entity(&Cli::command(), arguments);
        changed[1..].iter().map(|text| text.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_id_in_the_first_place_becomes_the_option_whatever_stands_before_it() {
        let id = "8a010000000000000000000000000001";
        for (line, expected) in [
            ("risk versions ID", "risk versions --entity ID"),
            ("risk add --data d ID rules.toml --json", "risk add --data d --entity ID rules.toml --json"),
            ("risk list show ID", "risk list show --entity ID"),
            ("risk list add ID deny email a@b.example", "risk list add --entity ID deny email a@b.example"),
            ("report totals --json ID --from 2026-01-01", "report totals --json --entity ID --from 2026-01-01"),
            ("chargeback open ID 8a02", "chargeback open --entity ID 8a02"),
            ("clock advance ID 30m", "clock advance --entity ID 30m"),
            // A mistyped id is reported as an id.
            ("risk versions 8a01", "risk versions --entity 8a01"),
        ] {
            assert_eq!(named(&line.replace("ID", id)), expected.replace("ID", id));
        }
    }

    #[test]
    fn other_arguments_stay_as_they_are() {
        let id = "8a010000000000000000000000000001";
        for line in [
            "",
            "risk",
            "serve --listen 127.0.0.1:0",
            "chargeback open --entity ID ID",
            "chargeback open --entity=ID ID",
            "review show ID",
            "review list --state all",
            "review list --rule ID",
            "clock advance 30m --entity ID",
            "risk versions -- ID",
            "no-such-command ID",
        ] {
            let line = line.replace("ID", id);
            assert_eq!(named(&line), line);
        }
    }

    #[test]
    fn every_command_about_an_entity_names_it_by_the_same_option() {
        let mut open = vec![Cli::command()];
        while let Some(command) = open.pop() {
            open.extend(command.get_subcommands().cloned());
            for argument in command.get_arguments() {
                let values: Vec<&str> =
                    argument.get_value_names().unwrap_or_default().iter().map(AsRef::as_ref).collect();
                let is_entity = values == ["ENTITY"] || values == ["ENTITY_ID"] || argument.get_id() == "entity";
                if is_entity && !["merchant", "parent"].contains(&argument.get_id().as_str()) {
                    assert_eq!((argument.get_long(), &values[..]), (Some("entity"), &["ENTITY_ID"][..]), "{argument}");
                }
            }
        }
    }
}
