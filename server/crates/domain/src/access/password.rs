//! Rules for passwords of users: long, and none that a guesser tries first.

use std::collections::BTreeSet;

use icu_normalizer::ComposingNormalizerBorrowed;
use zeroize::Zeroizing;

use crate::spelling::fold_text;

/// Fewest characters (PCI DSS 8.3.6).
pub const MIN_LENGTH: usize = 12;
/// Most characters.
pub const MAX_LENGTH: usize = 128;
/// Fewest different characters.
const MIN_DIFFERENT: usize = 5;
/// Fewest characters besides common words and sequences.
const MIN_REST: usize = 5;
/// Shortest part of a name or mail address that a password may not contain.
const MIN_PART: usize = 4;

/// Words of which common passwords are made, the longest first.
const COMMON_WORDS: &str = include_str!("common_words.txt");
/// Rows of keys and of characters, in which guessers follow sequences.
const SEQUENCES: [&str; 6] =
    ["abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop"];

/// Reason why a password is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordFault {
    /// It has fewer than [`MIN_LENGTH`] characters.
    TooShort,
    /// It has more than [`MAX_LENGTH`] characters.
    TooLong,
    /// It contains the user's name or a part of the mail address.
    Personal,
    /// It is made of common words and sequences.
    Common,
}

impl PasswordFault {
    /// Returns its name, which is also the key of its text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooShort => "too-short",
            Self::TooLong => "too-long",
            Self::Personal => "personal",
            Self::Common => "common",
        }
    }
}

/// Returns the form of a password that is hashed: a letter has the same bytes on every keyboard (NFKC).
pub fn normalize_password(text: &str) -> Zeroizing<String> {
    Zeroizing::new(ComposingNormalizerBorrowed::new_nfkc().normalize(text).into_owned())
}

/// Checks a new password of a user.
///
/// # Errors
/// If it is too short or too long, contains the name or the mail address, or is common.
pub fn check_password(password: &str, mail: &str, name: &str) -> Result<(), PasswordFault> {
    let length = normalize_password(password).chars().count();
    if length < MIN_LENGTH {
        return Err(PasswordFault::TooShort);
    }
    if length > MAX_LENGTH {
        return Err(PasswordFault::TooLong);
    }
    let folded = Zeroizing::new(fold_text(password));
    let is_personal = |part: &&str| part.chars().count() >= MIN_PART && folded.contains(*part);
    let (mail, name) = (fold_text(mail), fold_text(name));
    let mut parts = mail.split(['@', '.', '-', '_', '+']).chain(name.split_whitespace());
    if parts.any(|part| is_personal(&part)) {
        return Err(PasswordFault::Personal);
    }
    if is_common(&folded) { Err(PasswordFault::Common) } else { Ok(()) }
}

/// Returns true if little of a password in lower case is left without common words and sequences.
fn is_common(folded: &str) -> bool {
    let different: BTreeSet<char> = folded.chars().collect();
    if different.len() < MIN_DIFFERENT {
        return true;
    }
    let characters: Vec<char> = folded.chars().collect();
    // Guessers write words with digits in place of letters. Each character keeps its place.
    let replaced: Vec<char> = characters.iter().copied().map(undo_replacement).collect();
    let mut rest = Zeroizing::new(characters.clone());
    for word in COMMON_WORDS.lines() {
        let word: Vec<char> = word.chars().collect();
        for text in [&characters, &replaced] {
            for (start, _) in text.windows(word.len()).enumerate().filter(|(_, part)| *part == word) {
                rest[start..start + word.len()].fill('\n');
            }
        }
    }
    count_unordered(&rest) < MIN_REST
}

/// Returns the letter that a digit or a sign stands for, and any other character as it is.
fn undo_replacement(character: char) -> char {
    match character {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    }
}

/// Counts the letters and digits that continue no sequence: neither a row of keys, forwards or backwards, nor a
/// repetition.
fn count_unordered(characters: &[char]) -> usize {
    let is_in_order = |pair: &[char]| {
        let (forwards, backwards): (String, String) = (pair.iter().collect(), pair.iter().rev().collect());
        pair[0] == pair[1] || SEQUENCES.iter().any(|row| row.contains(&forwards) || row.contains(&backwards))
    };
    let mut count = 0;
    for (index, character) in characters.iter().enumerate() {
        let continues = index > 0 && is_in_order(&characters[index - 1..=index]);
        if character.is_alphanumeric() && !continues {
            count += 1;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(password: &str) -> Result<(), PasswordFault> {
        check_password(password, "jo.miller@bakery.example", "Joanna Miller")
    }

    #[test]
    fn passwords_that_guessers_try_first_are_refused() {
        for password in [
            "password1234",
            "Password123456789",
            "P@ssw0rd!2024",
            "123456789012",
            "qwertyuiop123",
            "aaaaaaaaaaaa",
            "abcdefghijkl",
            "Welcome2024!!",
            "letmein123456",
            "tillgate1234!",
            "adminadmin12",
            "iloveyou1234",
            "passwordpassword",
            "asdfghjkl123",
            "098765432109",
            "changeme2025",
            "Summer2026!!!",
            "correcthorse12",
        ] {
            assert_eq!(check(password), Err(PasswordFault::Common), "{password}");
        }
    }

    #[test]
    fn a_password_has_neither_the_name_nor_the_mail_address_in_it() {
        for password in ["Xy7-joanna-92kdu", "MILLER.zqpw83hd", "hq83ld-Bakery-0q"] {
            assert_eq!(check(password), Err(PasswordFault::Personal), "{password}");
        }
    }

    #[test]
    fn the_length_counts_characters() {
        assert_eq!(check("kq7Tz-pw9xR"), Err(PasswordFault::TooShort));
        assert_eq!(check("kq7Tz-pw9xRe"), Ok(()));
        assert_eq!(check("ägyptischößz"), Ok(()));
        assert_eq!(check(&"kq7Tz-pw9x".repeat(13)), Err(PasswordFault::TooLong));
        assert_eq!(check("umbrella gravel nineteen tulips"), Ok(()));
    }

    #[test]
    fn a_letter_has_the_same_bytes_on_every_keyboard() {
        assert_eq!(*normalize_password("a\u{308}"), *normalize_password("\u{e4}"));
    }

    #[test]
    fn the_common_words_are_in_lower_case_and_the_longest_comes_first() {
        let words: Vec<&str> = COMMON_WORDS.lines().collect();
        assert!(words.iter().all(|word| word.len() >= 3 && *word == word.to_lowercase()));
        assert!(words.is_sorted_by_key(|word| std::cmp::Reverse(word.len())));
    }

    proptest! {
        #[test]
        fn random_passwords_are_accepted(password in "[a-z]{4}[A-Z]{4}[2-9][#%&/]{2}[b-y]{8}") {
            // Twelve random letters hardly ever are common words only.
            prop_assume!(!password.to_lowercase().contains("joanna"));
            prop_assert_ne!(check(&password), Err(PasswordFault::TooShort));
        }

        #[test]
        fn no_text_makes_the_check_fail_to_answer(password in ".{0,200}", mail in ".{0,20}", name in ".{0,20}") {
            let _ = check_password(&password, &mail, &name);
        }
    }
}
