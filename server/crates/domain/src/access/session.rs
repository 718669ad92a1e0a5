//! Sessions of the back office: how long they last, and how long a second factor counts.

use jiff::{SignedDuration, Timestamp};

/// Time without a request after which a session ends (PCI DSS 8.2.8).
pub const IDLE_LIMIT: SignedDuration = SignedDuration::from_mins(15);
/// Time after which a session ends, however it is used.
pub const SESSION_LIMIT: SignedDuration = SignedDuration::from_hours(12);
/// Time for which a session waits for the second factor.
pub const FACTOR_LIMIT: SignedDuration = SignedDuration::from_mins(10);
/// Time for which a second factor is fresh enough for acts on other users and access tokens.
pub const FRESH_LIMIT: SignedDuration = SignedDuration::from_mins(10);
/// Time after which the use of a session is stored again. Storing each request would make every page a write.
pub const USE_INTERVAL: SignedDuration = SignedDuration::from_secs(30);

/// The times of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionTimes {
    /// The time of the password.
    pub created: Timestamp,
    /// The time of the latest request that was stored.
    pub last_used: Timestamp,
    /// The time of the second factor. `None` until then.
    pub confirmed: Option<Timestamp>,
    /// The time of its end: signed out, revoked, or replaced.
    pub ended: Option<Timestamp>,
}

/// Returns true if a second factor that was given at a time is fresh. A clock that was set back makes none fresh.
pub fn is_fresh_factor(factor: Option<Timestamp>, now: Timestamp) -> bool {
    factor.is_some_and(|given| {
        let age = now.duration_since(given);
        age < FRESH_LIMIT && age > -SignedDuration::from_mins(1)
    })
}

/// Stage of a session at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStage {
    /// It gives no access.
    Over,
    /// It has the password, and waits for the second factor.
    Unconfirmed,
    /// It has both.
    Confirmed,
}

impl SessionTimes {
    /// Returns the stage at a time. A clock that was set back extends nothing: a session from the future is over.
    pub fn stage_at(&self, now: Timestamp) -> SessionStage {
        let is_within = |since: Timestamp, limit: SignedDuration| {
            // The newest use may be a moment ahead of a request that began before it.
            let age = now.duration_since(since);
            age < limit && age > -SignedDuration::from_mins(1)
        };
        if self.ended.is_some() {
            return SessionStage::Over;
        }
        match self.confirmed {
            None if is_within(self.created, FACTOR_LIMIT) => SessionStage::Unconfirmed,
            Some(_) if is_within(self.created, SESSION_LIMIT) && is_within(self.last_used, IDLE_LIMIT) => {
                SessionStage::Confirmed
            }
            _ => SessionStage::Over,
        }
    }

    /// Returns true if a request at this time has to be stored as the latest use.
    pub fn needs_use(&self, now: Timestamp) -> bool {
        now.duration_since(self.last_used) >= USE_INTERVAL
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

    fn times(created: i64, last_used: i64, confirmed: bool) -> SessionTimes {
        let confirmed = confirmed.then(|| at(created));
        SessionTimes { created: at(created), last_used: at(last_used), confirmed, ended: None }
    }

    #[test]
    fn a_session_ends_when_it_is_idle_or_old_or_unconfirmed() {
        assert_eq!(times(0, 0, true).stage_at(at(899)), SessionStage::Confirmed);
        assert_eq!(times(0, 0, true).stage_at(at(900)), SessionStage::Over);
        assert_eq!(times(0, 43_000, true).stage_at(at(43_199)), SessionStage::Confirmed);
        assert_eq!(times(0, 43_190, true).stage_at(at(43_200)), SessionStage::Over);
        assert_eq!(times(0, 0, false).stage_at(at(599)), SessionStage::Unconfirmed);
        assert_eq!(times(0, 0, false).stage_at(at(600)), SessionStage::Over);
        assert_eq!(times(7200, 7200, true).stage_at(at(0)), SessionStage::Over);
        let ended = SessionTimes { ended: Some(at(1)), ..times(0, 0, true) };
        assert_eq!(ended.stage_at(at(2)), SessionStage::Over);
    }

    #[test]
    fn a_factor_is_fresh_for_some_minutes() {
        for (given, fresh) in
            [(Some(0), true), (Some(-599), true), (Some(-600), false), (Some(90), false), (None, false)]
        {
            assert_eq!(is_fresh_factor(given.map(at), at(0)), fresh, "{given:?}");
        }
    }

    proptest! {
        #[test]
        fn an_ended_session_never_begins_again(created in 0i64..100_000, used in 0i64..100_000, now in 0i64..200_000) {
            let session = times(created, created.max(used), true);
            if session.stage_at(at(now)) == SessionStage::Over && now > created.max(used) {
                prop_assert_eq!(session.stage_at(at(now + 1)), SessionStage::Over);
            }
        }
    }
}
