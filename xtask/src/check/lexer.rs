//! Tells the comments, the literals and the code of a Rust source apart. Text inside string literals, such as scripts
//! and addresses, is no comment.

/// One line comment.
#[derive(Debug, PartialEq, Eq)]
pub struct Comment<'a> {
    /// Number of its line, from 1.
    pub line: usize,
    /// True if nothing but spaces precedes it in its line.
    pub is_alone: bool,
    /// `///`, `//!` or `//`.
    pub marker: &'static str,
    /// Text after the marker.
    pub text: &'a str,
}

/// Returns the line comments of a source. Block comments are skipped.
pub fn find_comments(source: &str) -> Vec<Comment<'_>> {
    let comments = split_source(source).filter(|(_, token)| token.starts_with("//"));
    comments.map(|(at, token)| parse_comment(source, at, token)).collect()
}

/// Returns the contents of the string literals of a source, each with the number of its line. Escapes stay as they are.
pub fn find_strings(source: &str) -> Vec<(usize, &str)> {
    let strings = split_source(source).filter_map(|(at, token)| {
        let content = token.trim_start_matches(['r', 'b', 'c', '#']).strip_prefix('"')?;
        let line = source[..at].matches('\n').count() + 1;
        Some((line, content.trim_end_matches('#').trim_end_matches('"')))
    });
    strings.collect()
}

/// Returns the code of a source, with a space in place of each comment and each string or character literal. Newlines
/// stay, so the numbers of the lines do too. Prefixes such as the `b` of `b"…"` stay as well.
pub fn blank_literals(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    for (_, token) in split_source(source) {
        if token.chars().nth(1).is_some() {
            code.push(' ');
            code.extend(token.chars().filter(|c| *c == '\n'));
        } else {
            code.push_str(token);
        }
    }
    code
}

/// Splits a source into its comments, its literals and single characters, each with the byte at which it begins.
fn split_source(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let at = next;
        let rest = source.get(at..).filter(|rest| !rest.is_empty())?;
        let length = match rest.starts_with("//") {
            true => rest.find('\n').unwrap_or(rest.len()),
            false => token_length(source, at, rest),
        };
        next += length;
        Some((at, &rest[..length]))
    })
}

/// Splits code without literals into names, numbers and single characters, each with the number of its line.
pub fn split_tokens(code: &str) -> Vec<(&str, usize)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length =
                if is_word(first) { rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (token, after) = rest.split_at(length);
            tokens.push((token, index + 1));
            rest = after.trim_start();
        }
    }
    tokens
}

/// Returns true for a name, and false for a number or a mark.
pub fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Parses the line comment `text`, which begins at the byte `at` of the source.
fn parse_comment<'a>(source: &str, at: usize, text: &'a str) -> Comment<'a> {
    let before = &source[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let is_alone = before[line_start..].trim().is_empty();
    // Four slashes are an ordinary comment.
    let marker = match text.as_bytes() {
        [_, _, b'/', b'/', ..] => "//",
        [_, _, b'/', ..] => "///",
        [_, _, b'!', ..] => "//!",
        _ => "//",
    };
    Comment { line: before.matches('\n').count() + 1, is_alone, marker, text: &text[marker.len()..] }
}

/// Returns the length in bytes of the literal or block comment that begins here, or of the next character.
fn token_length(source: &str, at: usize, rest: &str) -> usize {
    let mut characters = rest.chars();
    let first = characters.next().map_or(1, char::len_utf8);
    match rest.as_bytes() {
        [b'/', b'*', ..] => block_comment_length(rest),
        [b'"', ..] => quoted_length(rest, '"'),
        [b'r', ..] if !follows_name(source, at) => raw_string_length(rest).unwrap_or(first),
        // The prefixes of byte and C strings; the string itself is the next token.
        [b'b' | b'c', b'r', ..] if !follows_name(source, at) => {
            raw_string_length(&rest[1..]).map_or(first, |length| length + 1)
        }
        [b'\'', b'\\', ..] => quoted_length(rest, '\''),
        // A lifetime has no closing quote behind its first character.
        [b'\'', ..] if characters.next().is_some() && characters.next() == Some('\'') => quoted_length(rest, '\''),
        _ => first,
    }
}

/// Returns true if the character before belongs to the same name.
fn follows_name(source: &str, at: usize) -> bool {
    source[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Returns the length of a literal between quotes, in which a backslash escapes a character.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of a raw string, or `None` if the `r` begins a name.
fn raw_string_length(rest: &str) -> Option<usize> {
    let hashes = rest[1..].bytes().take_while(|byte| *byte == b'#').count();
    let body = rest[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(body.find(&end).map_or(rest.len(), |index| 1 + hashes + 1 + index + end.len()))
}

/// Returns the length of a block comment, which may contain others.
fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while let Some(pair) = rest.as_bytes().get(at..at + 2) {
        match pair {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment_texts(source: &str) -> Vec<&str> {
        find_comments(source).into_iter().map(|comment| comment.text).collect()
    }

    #[test]
    fn comments_are_found_with_their_lines_and_markers() {
        let source = "//! Module.\n\n/// Item.\nfn f() {} // Why.\n    //// Rule.\n";
        let comment = |line, is_alone, marker, text| Comment { line, is_alone, marker, text };
        let expected = [
            comment(1, true, "//!", " Module."),
            comment(3, true, "///", " Item."),
            comment(4, false, "//", " Why."),
            comment(5, true, "//", "// Rule."),
        ];
        assert_eq!(find_comments(source), expected);
    }

    #[test]
    fn strings_are_found_with_their_lines() {
        let source = "let a = \"x\"; // \"no\"\nlet b = [r#\"y \"z\"#, b\"\", '\"'];";
        assert_eq!(find_strings(source), [(1, "x"), (2, "y \"z"), (2, "")]);
    }

    #[test]
    fn code_keeps_its_lines_without_literals() {
        let source = "let a = \"x\ny\"; // fn b\n/* fn c\n */ let d: &'a str = r#\"fn e\"#;";
        assert_eq!(blank_literals(source), "let a =  \n;  \n \n let d: &'a str =  ;");
    }

    #[test]
    fn literals_and_block_comments_contain_no_comments() {
        for source in [
            r#""https://x""#,
            r##"r"//a\" 1"##,
            "r#\"// \" // \"# ",
            "br##\"\"# // \"## ",
            "b\"\\\"//\"",
            "'\"' '\\'' 'ü' b'/'",
            "/* // /* */ // */",
        ] {
            assert_eq!(comment_texts(source), [""; 0], "{source}");
            assert_eq!(comment_texts(&format!("{source}// x")), [" x"], "{source}");
        }
        assert_eq!(comment_texts("fn f<'a>(x: &'a str) {} // x \"\n// y"), [" x \"", " y"]);
        assert_eq!(comment_texts("let r = r#type + for_r; // x"), [" x"]);
    }
}
