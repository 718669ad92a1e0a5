//! Values of settings as text: switches, words of a choice, and lists.

use super::channel_settings::ALL;

/// Largest length of a list, in bytes. The audit log keeps it for ever.
const MAX_LIST: usize = 2000;
/// The test modes.
const TEST_MODES: [&str; 3] = ["INTERNAL", "EXTERNAL", ALL];

/// Returns the word of a switch.
pub(super) fn switch_word(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

/// Parses the word of a switch.
pub(super) fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(format!("“{other}” is neither on nor off")),
    }
}

/// Returns the words of a choice.
pub(super) const fn words_of<T: Copy, const N: usize>(choices: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut words = [""; N];
    let mut index = 0;
    // Iterators are not for constants.
    while index < N {
        words[index] = choices[index].0;
        index += 1;
    }
    words
}

/// Returns the word of a value.
pub(super) fn find_word<T: PartialEq>(choices: &[(&'static str, T)], value: T) -> String {
    choices.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word).to_owned()
}

/// Parses a word of a choice.
pub(super) fn parse_word<T: Copy>(choices: &[(&'static str, T)], text: &str) -> Result<T, String> {
    let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        format!("“{text}” is none of {}", words.join(", "))
    })
}

/// Checks a test mode.
pub(super) fn parse_test_mode(text: &str) -> Result<String, String> {
    if TEST_MODES.contains(&text) { Ok(text.to_owned()) } else { Err(format!("“{text}” is no test mode")) }
}

/// Parses words that are separated by commas or blanks.
pub(super) fn parse_list(text: &str, parse: impl Fn(&str) -> Result<String, String>) -> Result<Vec<String>, String> {
    let separators = |letter: char| letter == ',' || letter.is_whitespace();
    if text.len() > MAX_LIST {
        return Err(format!("the list has more than {MAX_LIST} characters"));
    }
    let words: Vec<String> =
        text.split(separators).filter(|word| !word.is_empty()).map(parse).collect::<Result<_, _>>()?;
    if words.is_empty() { Err("the list has no word".to_owned()) } else { Ok(words) }
}

/// Returns the words of a list, or the word for an empty one.
pub(super) fn join_or(words: &[String], none: &str) -> String {
    if words.is_empty() { none.to_owned() } else { words.join(", ") }
}

/// Puts a value before a message that begins with a verb.
pub(super) fn in_quotes(text: &str, parse: impl Fn(&str) -> Result<String, String>) -> Result<String, String> {
    parse(text).map_err(|message| format!("“{text}” {message}"))
}
