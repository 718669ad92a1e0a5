//! Checks the comments of Rust sources, and the texts in them that people read: their first words, and the length of
//! the lines of comments.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::lexer::{self, Comment};

/// Folders whose sources are checked.
const FOLDERS: [&str; 6] = ["server", "shared", "tests", "widget", "www", "xtask"];

/// First words that make a comment or a text a riddle: both begin with a noun phrase or a verb.
const RIDDLES: [&str; 7] = ["what", "who", "whose", "whether", "where", "how", "as"];
/// Maximum number of characters in a line with a comment.
const WIDTH: usize = 120;

/// Checks the comments of a repository. Returns a line for each fault.
pub fn check_comments(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for folder in FOLDERS {
        for name in super::list_files(root, folder, ".rs")? {
            let source = fs::read_to_string(root.join(&name)).with_context(|| format!("reading {name}"))?;
            let riddles = if name.contains("/tests") { Vec::new() } else { find_riddles(&source) };
            let found = find_faults(&source).into_iter().chain(riddles);
            faults.extend(found.map(|(line, fault)| format!("{name}:{line}: {fault}")));
        }
    }
    Ok(faults)
}

/// Returns the faults of a source, each with the number of its line. Only the first line of a block of comments is
/// checked for its first word.
fn find_faults(source: &str) -> Vec<(usize, String)> {
    let comments = lexer::find_comments(source);
    let lines: Vec<&str> = source.lines().collect();
    let mut faults = Vec::new();
    let mut previous: Option<&Comment<'_>> = None;
    for comment in &comments {
        let width = lines.get(comment.line - 1).map_or(0, |line| line.chars().count());
        if width > WIDTH {
            faults
                .push((comment.line, format!("a comment's line has {width} characters, at most {WIDTH} are allowed")));
        }
        if !previous.is_some_and(|previous| is_continuation(previous, comment)) {
            let word = first_word(comment.text);
            if RIDDLES.contains(&word.to_lowercase().as_str()) {
                faults.push((
                    comment.line,
                    format!("a comment begins with {word:?}; begin with a noun phrase or a verb"),
                ));
            }
        }
        previous = Some(comment);
    }
    faults
}

/// Returns a fault for each text of at least three words that begins with a riddle: meanings of parameters, help,
/// labels, log lines. Words in capitals are SQL. The code after `#[cfg(test)]` is not checked.
fn find_riddles(source: &str) -> Vec<(usize, String)> {
    let code = source.split_once("#[cfg(test)]").map_or(source, |(before, _)| before);
    let is_riddle = |text: &str| {
        let word = first_word(text);
        let is_sentence = text.starts_with(word) && text.split_whitespace().count() >= 3;
        is_sentence && word != word.to_uppercase() && RIDDLES.contains(&word.to_lowercase().as_str())
    };
    let texts = lexer::find_strings(code).into_iter().filter(|(_, text)| is_riddle(text));
    texts
        .map(|(line, text)| {
            (line, format!("a text begins with {:?}; begin with a noun phrase or a verb", first_word(text)))
        })
        .collect()
}

/// Returns true if a comment belongs to the same block as the previous one.
fn is_continuation(previous: &Comment<'_>, comment: &Comment<'_>) -> bool {
    comment.is_alone && previous.is_alone && previous.marker == comment.marker && previous.line + 1 == comment.line
}

/// Returns the first word of a comment, without marks before it.
fn first_word(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_comments_of_the_repository_have_no_faults() {
        let faults = check_comments(crate::workspace_root()).unwrap();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn a_comment_that_begins_with_a_riddle_is_a_fault_in_its_first_word_only() {
        let lines = |source: &str| find_faults(source).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        for word in ["What", "Who", "Whose", "Whether", "Where", "How", "As", "where"] {
            assert_eq!(lines(&format!("/// {word} it is.\nfn f() {{}}\n")), [1], "{word}");
            assert_eq!(lines(&format!("fn f() {{}} // {word} it is.\n")), [1], "{word}");
        }
        assert_eq!(lines("//! `What` is asked.\n\n// *As* before.\nlet a = 1;\n"), [1, 3]);
        for fine in
            ["/// Asserts.\n", "/// However.\n", "/// One\n/// what is asked.\n", "let a = \"// What\";\n", "///\n"]
        {
            assert_eq!(lines(fine), [0; 0], "{fine}");
        }
        // Another marker, or code between, begins another block.
        assert_eq!(lines("/// One.\n// What.\n"), [2]);
        assert_eq!(lines("let a = 1; // One.\n// What.\n"), [2]);
        assert_eq!(lines("// One.\n\n// What.\n"), [3]);
    }

    #[test]
    fn a_text_that_begins_with_a_riddle_is_a_fault() {
        let lines = |source: &str| find_riddles(source).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert_eq!(lines("let a = 1;\nlet b = \"Whose account it is.\";\n"), [2]);
        assert_eq!(lines("tracing::warn!(\"what was not taken failed\");\n"), [1]);
        for fine in [
            "let a = \"Account holder's name, whose card it is\";\n",
            "let a = \"WHERE id = ?1\";\n",
            "let a = \" WHERE id = ?1\";\n",
            "let a = [\"how\", \"as is\"];\n",
            "#[cfg(test)]\nlet a = \"What it is.\";\n",
        ] {
            assert_eq!(lines(fine), [0; 0], "{fine}");
        }
    }

    #[test]
    fn a_line_with_a_comment_has_at_most_120_characters() {
        let line = |length: usize| format!("    /// {}\n", "ü".repeat(length - 8));
        assert!(find_faults(&line(120)).is_empty());
        assert_eq!(find_faults(&line(121)).len(), 1);
        assert_eq!(find_faults(&format!("let a = 1; // {}\n", "a".repeat(110))).len(), 1);
        assert!(find_faults(&format!("let a = \"{}\";\n", "a".repeat(120))).is_empty());
    }
}
