//! The words of a statement that differ on PostgreSQL. Statements are written once, as SQLite takes them.

use std::borrow::Cow;

/// Names that are words of PostgreSQL's own, or functions of another meaning there, and what they become.
const NAMES: [(&str, &str); 2] = [
    // A word for the session's role. Without quotes, a column of this name would silently be another value.
    ("user", "\"user\""),
    // PostgreSQL's own function has two columns and takes objects only.
    ("json_each", "json_items"),
];

/// Translates a statement: `?1` becomes `$1`, `x'00'` a literal of PostgreSQL, [`NAMES`] their other name, and the
/// text of a document, `CAST(document AS TEXT)`, a call of the schema's function `utf8`, because PostgreSQL's own cast
/// escapes the bytes. Texts, comments and quoted names stay as they are.
pub(super) fn translate(statement: &str) -> String {
    let mut translated = String::with_capacity(statement.len() + 16);
    let mut rest = statement;
    while !rest.is_empty() {
        let (piece, length) = translate_piece(rest);
        translated.push_str(&piece);
        rest = rest.get(length..).unwrap_or_default();
    }
    translated
}

/// Translates the first piece of a text. Returns it, and the length of the piece in bytes.
fn translate_piece(text: &str) -> (Cow<'_, str>, usize) {
    let bytes = text.as_bytes();
    let until = |end: usize| text.get(..end).unwrap_or(text);
    match bytes.first() {
        Some(quote @ (b'\'' | b'"')) => {
            let length = find_end_of_quotes(bytes, *quote);
            (until(length).into(), length)
        }
        Some(b'-') if bytes.get(1) == Some(&b'-') => {
            let length = text.find('\n').unwrap_or(text.len());
            (until(length).into(), length)
        }
        Some(b'?') => {
            let digits = bytes.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
            (format!("${}", text.get(1..=digits).unwrap_or_default()).into(), digits + 1)
        }
        Some(b'x' | b'X') if bytes.get(1) == Some(&b'\'') => {
            let length = 1 + find_end_of_quotes(bytes.get(1..).unwrap_or_default(), b'\'');
            (format!("'\\x{}'::bytea", text.get(2..length - 1).unwrap_or_default()).into(), length)
        }
        Some(first) if first.is_ascii_alphabetic() || *first == b'_' => translate_word(text),
        // A number, so that its letters are no word.
        Some(first) if first.is_ascii_digit() => {
            let length = count_word(bytes);
            (until(length).into(), length)
        }
        _ => {
            let length = text.chars().next().map_or(1, char::len_utf8);
            (until(length).into(), length)
        }
    }
}

/// Translates a text that begins with a word.
fn translate_word(text: &str) -> (Cow<'_, str>, usize) {
    let length = count_word(text.as_bytes());
    let word = text.get(..length).unwrap_or(text);
    if word.eq_ignore_ascii_case("CAST")
        && let Some((document, end)) = read_document_cast(text)
    {
        return (format!("utf8({document})").into(), end);
    }
    match NAMES.iter().find(|(name, _)| word == *name) {
        Some((_, other)) => ((*other).into(), length),
        None => (word.into(), length),
    }
}

/// Reads `CAST(document AS TEXT)`, also of a table's alias. Returns the column and the length in bytes.
fn read_document_cast(text: &str) -> Option<(&str, usize)> {
    const END: &str = " AS TEXT)";
    let inner = text.get("CAST".len()..)?.strip_prefix('(')?;
    let length = inner.bytes().take_while(|byte| is_word_byte(*byte) || *byte == b'.').count();
    let (column, rest) = inner.split_at_checked(length)?;
    let is_document = column == "document" || column.ends_with(".document");
    (is_document && rest.starts_with(END)).then_some((column, "CAST(".len() + length + END.len()))
}

/// Returns the number of bytes until the end of a quoted text. A doubled quote does not end it.
fn find_end_of_quotes(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte == quote {
            if bytes.get(at) == Some(&quote) {
                at += 1;
            } else {
                return at;
            }
        }
    }
    bytes.len()
}

fn count_word(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_word_byte(**byte)).count()
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_that_differ_change() {
        for (statement, expected) in [
            ("SELECT a FROM b WHERE c = ?1 AND d = ?12", "SELECT a FROM b WHERE c = $1 AND d = $12"),
            ("SELECT user.name FROM user WHERE user_id = ?1", "SELECT \"user\".name FROM \"user\" WHERE user_id = $1"),
            ("UPDATE \"user\" SET name = 'it''s a ?1 user'", "UPDATE \"user\" SET name = 'it''s a ?1 user'"),
            ("SELECT x'00ff', 0xff -- a user ?1\n, 1", "SELECT '\\x00ff'::bytea, 0xff -- a user ?1\n, 1"),
            (
                "json_extract(CAST(e.document AS TEXT), '$.a') = CAST(n AS TEXT)",
                "json_extract(utf8(e.document), '$.a') = CAST(n AS TEXT)",
            ),
            ("IN (SELECT value FROM json_each(?1))", "IN (SELECT value FROM json_items($1))"),
            ("SELECT 'Ä' || ü", "SELECT 'Ä' || ü"),
            ("'open", "'open"),
        ] {
            assert_eq!(translate(statement), expected);
        }
    }
}
