//! Users of the back office: mail address, name, state, wrong second factors, and invitations.

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::format::email::Mailbox;

use crate::access::role::{Permissions, Role, RoleGrant};
use crate::id::UserId;
use crate::spelling::fold_text;

/// Time for which an invitation can be used.
pub const INVITATION_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// Longest name of a user, in characters.
const MAX_NAME: usize = 100;

/// A user of the back office, without any secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The id.
    pub id: UserId,
    /// The mail address, in lower case. It is the user's name at sign-in.
    pub mail: String,
    /// The name, as other users see it.
    pub name: String,
    /// The state.
    pub state: UserState,
    /// The time of creation.
    pub created: Timestamp,
    /// The roles.
    pub permissions: Permissions,
}

/// State of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserState {
    /// The user has not accepted the invitation yet.
    Invited,
    /// The user has a password and a second factor.
    Active,
    /// An administrator has disabled the user.
    Disabled,
}

impl UserState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Invited, Self::Active, Self::Disabled];

    /// Returns its name, as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invited => "invited",
            Self::Active => "active",
            Self::Disabled => "disabled",
        }
    }

    /// Parses a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

impl User {
    /// Returns true if the user administers the whole gateway.
    pub fn is_gateway_administrator(&self) -> bool {
        let is_administrator = |grant: &RoleGrant| grant.role == Role::Administrator && grant.reach.entity().is_none();
        self.permissions.grants().iter().any(is_administrator)
    }
}

/// Checks a mail address, and returns it in the one spelling that is compared and stored.
///
/// # Errors
/// A message about the address.
pub fn parse_mail(text: &str) -> Result<String, String> {
    let folded = fold_text(text.trim());
    let is_valid = folded.len() <= 254 && folded.matches('@').count() == 1 && Mailbox::parse(&folded).is_some();
    if is_valid { Ok(folded) } else { Err("a mail address looks like jo@shop.example".to_owned()) }
}

/// Checks a user's name, and returns it without spaces around it.
///
/// # Errors
/// A message about the name.
pub fn parse_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let is_valid = !name.is_empty() && name.chars().count() <= MAX_NAME && !name.chars().any(char::is_control);
    if is_valid { Ok(name.to_owned()) } else { Err(format!("a name has 1 to {MAX_NAME} printable characters")) }
}

/// Wrong second factors of a user since the last right one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FactorFailures {
    /// Their number.
    pub count: u32,
    /// The time of the last one.
    pub last: Option<Timestamp>,
}

impl FactorFailures {
    /// Number of wrong codes without a wait.
    const FREE: u32 = 5;
    /// Longest wait.
    const LONGEST: SignedDuration = SignedDuration::from_mins(30);

    /// Returns the time from which another code is checked, `None` if that is at once. The wait doubles with each wrong
    /// code. It is a delay and no lock: a guesser who knows the password gets two codes an hour, and the owner is never
    /// locked out for longer than the longest wait.
    pub fn next_try(&self) -> Option<Timestamp> {
        let above = self.count.checked_sub(Self::FREE)?;
        let wait = SignedDuration::from_mins(1i64 << above.min(10)).min(Self::LONGEST);
        self.last?.checked_add(wait).ok()
    }

    /// Returns true if a code is checked at this time.
    pub fn allows_try(&self, now: Timestamp) -> bool {
        self.next_try().is_none_or(|next| now >= next)
    }

    /// Returns the failures with one more.
    #[must_use]
    pub fn with_failure(self, now: Timestamp) -> Self {
        Self { count: self.count.saturating_add(1), last: Some(now) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn a_mail_address_has_one_spelling() {
        assert_eq!(parse_mail(" Jo@Shop.Example ").unwrap(), "jo@shop.example");
        assert_eq!(parse_mail("ｊｏ@shop.example").unwrap(), "jo@shop.example");
        for text in
            ["", "jo", "jo@", "@shop.example", "a b@shop.example", "jo@shop.example\nBcc: x@y.example", "a@b@c.de"]
        {
            assert!(parse_mail(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn wrong_codes_delay_the_next_one_and_never_lock_out() {
        let mut failures = FactorFailures::default();
        for number in 0..5 {
            assert!(failures.allows_try(at(number)), "{number}");
            failures = failures.with_failure(at(number));
        }
        assert_eq!(failures.next_try(), Some(at(4 + 60)));
        assert!(!failures.allows_try(at(63)) && failures.allows_try(at(64)));
    }

    proptest! {
        #[test]
        fn the_wait_after_wrong_codes_has_a_limit(count in 0u32..u32::MAX) {
            let failures = FactorFailures { count, last: Some(at(0)) };
            prop_assert!(failures.allows_try(at(1800)));
        }
    }
}
