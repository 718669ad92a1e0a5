//! Passkeys of users: their names and limits, and the purposes of challenges.

use jiff::SignedDuration;

/// Time for which a challenge waits for its answer.
pub const CHALLENGE_LIMIT: SignedDuration = SignedDuration::from_mins(5);
/// Largest number of passkeys of a user.
pub const MAX_PASSKEYS: usize = 20;
/// Longest name of a passkey, in characters.
pub const MAX_PASSKEY_NAME: usize = 60;

/// Purpose of a challenge. The answer to one of them is worth nothing for another purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChallengePurpose {
    /// A signed-in user adds a passkey.
    Add,
    /// Somebody signs in without a user name.
    SignIn,
    /// A user with the right password gives the second factor.
    Factor,
}

impl ChallengePurpose {
    /// Every purpose.
    pub const ALL: [Self; 3] = [Self::Add, Self::SignIn, Self::Factor];

    /// Returns its name, as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::SignIn => "sign-in",
            Self::Factor => "factor",
        }
    }

    /// Parses a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.as_str() == text)
    }
}

/// Checks the name of a passkey, and returns it without spaces around it. Returns `None` if it is not possible.
pub fn parse_passkey_name(text: &str) -> Option<String> {
    let name = text.trim();
    let is_valid = !name.is_empty() && name.chars().count() <= MAX_PASSKEY_NAME && !name.chars().any(char::is_control);
    is_valid.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passkey_has_a_printable_name_of_a_few_words() {
        assert_eq!(parse_passkey_name(" Blue key ").as_deref(), Some("Blue key"));
        assert_eq!(parse_passkey_name(&"ä".repeat(60)), Some("ä".repeat(60)));
        for text in ["", "  ", "a\nb", &"a".repeat(61)] {
            assert_eq!(parse_passkey_name(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_purpose_is_read_as_it_was_stored() {
        for purpose in ChallengePurpose::ALL {
            assert_eq!(ChallengePurpose::parse(purpose.as_str()), Some(purpose));
        }
        assert_eq!(ChallengePurpose::parse("other"), None);
    }
}
