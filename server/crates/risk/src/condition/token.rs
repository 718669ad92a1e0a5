//! Words, texts, numbers and signs of a condition.

use super::ConditionError;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConditionToken<'a> {
    /// A keyword or a name: `and`, `amount`, `risk.parameters[vip]`.
    Word(&'a str),
    /// A text, without its quotes.
    Text(String),
    /// A number as written.
    Number(&'a str),
    /// A time of the day, in minutes since midnight.
    Time(u16),
    /// A sign: a parenthesis, a comma or a comparison.
    Sign(&'static str),
    /// The end of the condition.
    End,
}

impl ConditionToken<'_> {
    /// Describes the token for errors.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("`{}`", shorten_text(word)),
            Self::Text(text) => format!("the text \"{}\"", shorten_text(text)),
            Self::Number(number) => format!("the number {}", shorten_text(number)),
            Self::Time(minutes) => format!("the time {:02}:{:02}", minutes / 60, minutes % 60),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end of the condition".to_owned(),
        }
    }
}

/// Shortens what an error repeats.
pub(super) fn shorten_text(text: &str) -> String {
    const LENGTH: usize = 60;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Signs, the longer ones first.
const SIGNS: [&str; 9] = ["!=", "<=", ">=", "(", ")", ",", "=", "<", ">"];
/// Signs of other languages, and what to write instead.
const FOREIGN: [(&str, &str); 8] = [
    ("==", "write `=`"),
    ("<>", "write `!=`"),
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("!", "write `not`"),
    ("'", "texts stand in double quotes"),
    ("“", "texts stand in straight double quotes"),
    ("#", "a condition has no comments; write a `note`"),
];

/// Divides a condition into tokens with their byte offsets. The last one is [`ConditionToken::End`].
pub(super) fn read_tokens(text: &str) -> Result<Vec<(usize, ConditionToken<'_>)>, ConditionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let (token, length) = read_token(rest, first).map_err(|error| ConditionError { at: at + error.at, ..error })?;
        tokens.push((at, token));
        at += length;
    }
    tokens.push((text.len(), ConditionToken::End));
    Ok(tokens)
}

fn read_token(rest: &str, first: char) -> Result<(ConditionToken<'_>, usize), ConditionError> {
    if first == '"' {
        return read_text(rest);
    }
    if first.is_ascii_alphabetic() {
        return read_word(rest);
    }
    let is_negative = first == '-' && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if first.is_ascii_digit() || is_negative {
        return read_number(rest);
    }
    if let Some((_, remedy)) = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign) && !rest.starts_with("!=")) {
        return Err(ConditionError::new(0, format!("`{first}` is not part of this language: {remedy}")));
    }
    let sign = SIGNS.iter().find(|sign| rest.starts_with(*sign));
    sign.map(|sign| (ConditionToken::Sign(sign), sign.len()))
        .ok_or_else(|| ConditionError::new(0, format!("`{}` is not part of this language", first.escape_debug())))
}

fn read_text(rest: &str) -> Result<(ConditionToken<'_>, usize), ConditionError> {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((ConditionToken::Text(text), at + 1)),
            '\\' => match letters.next() {
                Some((_, escaped @ ('"' | '\\'))) => text.push(escaped),
                _ => return Err(ConditionError::new(at, "after a backslash stands `\"` or another backslash")),
            },
            _ => text.push(letter),
        }
    }
    Err(ConditionError::new(0, "this text has no end: add a double quote"))
}

fn read_word(rest: &str) -> Result<(ConditionToken<'_>, usize), ConditionError> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_';
    let bytes = rest.as_bytes();
    let mut end = 0;
    while let Some(byte) = bytes.get(end) {
        if *byte == b'[' {
            let inside = bytes.iter().skip(end + 1).take_while(|byte| is_part(**byte)).count();
            if bytes.get(end + 1 + inside) != Some(&b']') {
                return Err(ConditionError::new(end, "a bracket holds an index, `n` or a key, and ends with `]`"));
            }
            end += inside + 2;
        } else if is_part(*byte) {
            end += 1;
        } else {
            break;
        }
    }
    Ok((ConditionToken::Word(rest.get(..end).unwrap_or_default()), end))
}

fn read_number(rest: &str) -> Result<(ConditionToken<'_>, usize), ConditionError> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.' || *byte == b':';
    let end = 1 + rest.bytes().skip(1).take_while(is_part).count();
    let number = rest.get(..end).unwrap_or_default();
    if let Some((hour, minute)) = number.split_once(':') {
        let part = |digits: &str, below: u16| {
            let parsed = (digits.len() == 2).then(|| digits.parse::<u16>().ok()).flatten();
            parsed.filter(|parsed| *parsed < below)
        };
        let time = part(hour, 24).zip(part(minute, 60)).map(|(hour, minute)| hour * 60 + minute);
        let error = || ConditionError::new(0, "a time of day goes from 00:00 to 23:59, with two digits each");
        return time.map(|time| (ConditionToken::Time(time), end)).ok_or_else(error);
    }
    Ok((ConditionToken::Number(number), end))
}
