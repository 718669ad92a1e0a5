//! Checks the shell commands in the documents: they work with the tools of macOS and of Linux, and ids in them are
//! variables, so that a block can be pasted as it is.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Forms that only GNU's tools or a newer bash have: a text in a command, and what macOS has instead. Bash there is
/// 3.2, and the default shell is zsh, which does not split unquoted variables.
const FORMS: [(&str, &str); 27] = [
    ("date -d", "date has no -d; read the day from an answer, or use -v"),
    ("date -u -d", "date has no -d; read the day from an answer, or use -v"),
    ("date --", "date has no long options"),
    ("date -I", "date has no -I on older versions; use a format"),
    ("grep -P", "grep has no -P; use -E"),
    ("grep -oP", "grep has no -P; use -E"),
    ("sed -i", "sed -i needs another argument; write into another file"),
    ("sed -r", "use sed -E"),
    ("readlink -f", "readlink has no -f on older versions; use cd and pwd"),
    ("realpath", "there is no realpath on older versions; use cd and pwd"),
    ("stat -c", "stat has no -c; use wc -c"),
    ("stat --", "stat has no long options"),
    ("head -n -", "head takes no negative number; use sed"),
    ("base64 -w", "base64 has no -w; use tr -d"),
    ("sha256sum", "there is no sha256sum; use shasum -a 256"),
    ("md5sum", "there is no md5sum; use md5 or openssl"),
    ("timeout ", "there is no timeout; bound the loop"),
    ("tac ", "there is no tac; use tail -r"),
    ("xargs -r", "xargs has no -r on older versions"),
    ("xargs -d", "xargs has no -d"),
    ("sort -V", "sort has no -V on older versions"),
    ("cp --", "cp has no long options"),
    ("mktemp --", "mktemp has no long options"),
    ("mapfile", "bash 3.2 has no mapfile; use while read"),
    ("readarray", "bash 3.2 has no readarray; use while read"),
    ("declare -A", "bash 3.2 has no associative arrays"),
    ("echo -e", "echo -e differs between shells; use printf"),
];
/// Operators that bash 3.2 does not have.
const OPERATORS: [&str; 5] = ["&>>", "|&", ",,}", "^^}", "@Q}"];
/// Escapes in expressions of grep and sed that only GNU knows.
const ESCAPES: [&str; 8] = [r"\+", r"\?", r"\|", r"\s", r"\d", r"\w", r"\b", r"\<"];

/// Checks the shell commands of all documents. Returns a sorted line for each fault.
pub fn check_commands(root: &Path) -> Result<Vec<String>> {
    let mut names = super::list_files(root, "docs", ".md")?;
    names.push("README.md".to_owned());
    let mut faults = Vec::new();
    for name in names {
        let text = fs::read_to_string(root.join(&name)).with_context(|| format!("reading {name}"))?;
        let is_walkthrough = text.contains("```console\nsed -n");
        for (number, line) in shell_lines(&text) {
            let found = find_foreign_form(line).or_else(|| find_placeholder(line));
            let found = found.or_else(|| is_walkthrough.then(|| find_unsafe_paste(line)).flatten());
            faults.extend(found.map(|fault| format!("{name}:{number}: {fault}")));
        }
    }
    faults.sort();
    Ok(faults)
}

/// Returns the lines of a document's shell blocks, with their numbers.
fn shell_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_shell = false;
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if let Some(kind) = line.strip_prefix("```") {
            is_shell = !is_code && (kind == "sh" || kind == "console");
            is_code = !is_code;
            return None;
        }
        is_shell.then_some((index + 1, line))
    })
}

/// Finds a form in a command that macOS does not have. Returns the advice.
fn find_foreign_form(line: &str) -> Option<String> {
    let begins_word = |form: &str| {
        line.match_indices(form)
            .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "-_./".contains(c)))
    };
    if let Some((form, advice)) = FORMS.into_iter().find(|(form, _)| begins_word(form)) {
        return Some(format!("{}: {advice}", form.trim()));
    }
    if let Some(operator) = OPERATORS.into_iter().find(|operator| line.contains(operator)) {
        return Some(format!("bash 3.2 has no {operator}"));
    }
    let is_expression = ["grep ", "sed "].iter().any(|tool| begins_word(tool));
    let escape = ESCAPES.into_iter().find(|escape| is_expression && line.contains(escape));
    escape.map(|escape| format!("{escape} in an expression is GNU's; use -E"))
}

/// Finds a placeholder that a reader would have to replace: it is a variable instead.
fn find_placeholder(line: &str) -> Option<String> {
    let command = line.split(" # ").next().unwrap_or_default();
    let is_placeholder = |word: &str| {
        word.contains('…') || word.contains("/{") || ["ENTITY", "ENTITY_ID", "PAYMENT", "PAYMENT_ID"].contains(&word)
    };
    let found = command.split_whitespace().find(|word| is_placeholder(word));
    found.map(|word| format!("{word} has to be replaced by hand; use a variable"))
}

/// Finds something that breaks when a walk-through is pasted: a comment, which an interactive zsh does not know, and an
/// unquoted variable, which it does not split.
fn find_unsafe_paste(line: &str) -> Option<String> {
    if line.contains(" # ") || line.starts_with("# ") {
        return Some("an interactive zsh takes a comment for a command; write it above the block".to_owned());
    }
    let words = line.split_whitespace().filter(|word| word.starts_with('$') && !word.starts_with("$("));
    // The variables of awk are numbers, and its program is in quotes.
    let mut variables =
        words.filter(|word| word[1..].starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_lowercase()));
    let unquoted = variables.find(|word| word[1..].chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    unquoted.filter(|_| !line.contains("awk")).map(|word| format!("{word} is not in quotes"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_the_documents_work_on_a_mac_and_can_be_pasted() {
        let faults = check_commands(crate::workspace_root()).unwrap();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn forms_of_gnu_and_of_newer_shells_are_found_in_commands() {
        for line in [
            "TO=$(date -u -d '+21 days' +%Y-%m-%d)",
            "FROM=$(date -d yesterday)",
            "grep -oP '\\d+' x",
            "  sed -i 's/a/b/' x",
            "cd \"$(dirname \"$(readlink -f \"$0\")\")\"",
            "head -n -1 x",
            "declare -A table",
            "grep 'a\\|b' x",
            "sed 's/a\\+/b/'",
            "echo ${NAME,,}",
            "make |& tee log",
        ] {
            assert!(find_foreign_form(line).is_some(), "{line}");
        }
        for line in [
            "tillgate file-push retry --entity \"$ENTITY\"",
            "grep -o 'a' x | sed -nE 's/a+/b/p'",
            "validate -d x",
            "tillgate settlement import payout.csv",
            "awk '{ gsub(/\\|/, \"\") }' x",
        ] {
            assert_eq!(find_foreign_form(line), None, "{line}");
        }
    }

    #[test]
    fn placeholders_comments_and_unquoted_variables_are_found() {
        assert!(find_placeholder("tillgate report totals 8a01… --from 2026-10-01").is_some());
        assert!(find_placeholder("curl https://pay.example/v1/payments/{id} -d x").is_some());
        assert!(find_placeholder("tillgate risk versions ENTITY").is_some());
        assert_eq!(find_placeholder("tillgate risk versions --entity $ENTITY"), None);
        assert!(find_unsafe_paste("value code   # 000.100.110").is_some());
        assert!(find_unsafe_paste("call $CARD -d x").is_some());
        assert_eq!(find_unsafe_paste("call \"$CARD\" -d \"a=$B\" --from $(today)"), None);
    }

    #[test]
    fn only_blocks_for_a_shell_are_read() {
        let text = "a\n```sh\nb\n```\nc\n```text\nd\n```\n```\ne\n```\n```console\nf\n```";
        assert_eq!(shell_lines(text).collect::<Vec<_>>(), [(3, "b"), (13, "f")]);
    }
}
