//! Limits on guessing at the sign-in. They delay, and never lock: every limit is restored within an hour.
//!
//! Wrong passwords count by network and by mail address. Somebody who guesses at the address of another person uses up
//! both, so a browser in which that person has signed in before has a limit of its own, by its cookie: guessers
//! elsewhere never keep its user out.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use jiff::Timestamp;
use tillgate_net::wrong_credentials::{WrongCredentials, counted_network};

/// Wrong passwords in an hour from a network. Many colleagues may share one.
const PER_NETWORK: u32 = 60;
/// Wrong passwords in an hour for a mail address, from browsers that are not known.
const PER_MAIL: u32 = 20;
/// Wrong passwords and codes in an hour from a known browser.
const PER_DEVICE: u32 = 20;
/// Challenges for passkeys in an hour for a network, and for a session. Each is a row of the store for some minutes.
const CHALLENGES: u32 = 300;
/// Passwords that wait for their hash at a time. Further ones are refused at once, so that a flood holds no memory.
const MAX_WAITING: usize = 128;

/// The limits of a running server.
pub struct SignInLimits {
    networks: WrongCredentials,
    mails: WrongCredentials,
    devices: Arc<WrongCredentials>,
    challenges: WrongCredentials,
    waiting: AtomicUsize,
}

/// The counters of one attempt.
pub(super) struct Attempt<'a> {
    limits: &'a SignInLimits,
    address: IpAddr,
    mail: String,
    /// The id of the known browser.
    device: Option<String>,
}

/// One guess in a known browser or a session, for a decision under the write lock. Counting there is the only way to
/// count a guess before the next one is checked: a thousand at once would all pass a limit that is checked earlier.
#[derive(Clone)]
pub(super) struct FactorGuess {
    devices: Arc<WrongCredentials>,
    key: String,
    /// True once the guess is counted. Shared by copies, because a decision whose transaction is undone is made again.
    is_counted: Arc<AtomicBool>,
}

impl FactorGuess {
    fn new(limits: &SignInLimits, key: String) -> Self {
        Self { devices: Arc::clone(&limits.devices), key, is_counted: Arc::default() }
    }

    /// Returns true if the limit is reached. A guess that is counted has passed the limit before.
    pub(super) fn is_refused(&self, now: Timestamp) -> bool {
        !self.is_counted.load(Ordering::Relaxed) && self.devices.is_key_reached(&self.key, now)
    }

    /// Counts a wrong factor, once.
    pub(super) fn record_wrong(&self, now: Timestamp) {
        if !self.is_counted.swap(true, Ordering::Relaxed) {
            // The limit is checked under the same lock, so a counter that is full needs no answer here.
            let _ = self.devices.record_key(&self.key, now);
        }
    }
}

/// A place among the passwords that wait for their hash. It is free again when it is dropped.
pub(super) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for SignInLimits {
    fn default() -> Self {
        Self {
            networks: WrongCredentials::new(PER_NETWORK),
            mails: WrongCredentials::new(PER_MAIL),
            devices: Arc::new(WrongCredentials::new(PER_DEVICE)),
            challenges: WrongCredentials::new(CHALLENGES),
            waiting: AtomicUsize::new(0),
        }
    }
}

impl SignInLimits {
    /// Begins an attempt for a mail address, whether or not it has a user.
    pub(super) fn attempt(&self, address: IpAddr, mail: &str, device: Option<String>) -> Attempt<'_> {
        Attempt { limits: self, address, mail: mail.to_owned(), device }
    }

    /// Begins a guess of a second factor in a session. It counts for the session alone, so that nobody elsewhere can
    /// keep a signed-in user from changing a password that has become known.
    pub(super) fn guess_in_session(&self, number: i64) -> FactorGuess {
        FactorGuess::new(self, format!("session {number}"))
    }

    /// Counts wrong passwords for a mail address also for the address that replaces it.
    pub(super) fn follow_mail(&self, from: &str, to: &str) {
        self.mails.copy_key(from, to);
    }

    /// Counts a challenge for a sign-in without a user name. Returns false if there were too many for the network.
    pub(super) fn count_challenge(&self, address: IpAddr, now: Timestamp) -> bool {
        self.challenges.record_attempt(address, now).is_ok()
    }

    /// Counts a challenge for a session. Returns false if there were too many. Others in the network do not count, so
    /// that none of them keeps a user who knows the password from the second factor.
    pub(super) fn count_challenge_of_session(&self, number: i64, now: Timestamp) -> bool {
        self.challenges.record_key(format!("session {number}"), now).is_ok()
    }

    /// Returns true if there were too many wrong answers of passkeys, or wrong passwords, from a network.
    pub(super) fn are_passkeys_refused(&self, address: IpAddr, now: Timestamp) -> bool {
        self.networks.is_reached(address, now)
    }

    /// Counts a wrong answer of a passkey without a user name. It counts for no user, because the id of a passkey is no
    /// secret, and somebody who knows it must not keep its user out.
    pub(super) fn record_wrong_passkey(&self, address: IpAddr, now: Timestamp) {
        // The limit is checked before an answer, so a counter that is full needs no answer here.
        let _ = self.networks.record_attempt(address, now);
    }

    /// Takes a place for a password that waits. Returns `None` if too many wait.
    pub(super) fn wait(&self) -> Option<Waiting<'_>> {
        let taken = self.waiting.fetch_add(1, Ordering::Relaxed);
        // Dropped at once if it is one too many.
        let place = Waiting(&self.waiting);
        (taken < MAX_WAITING).then_some(place)
    }
}

impl Attempt<'_> {
    /// Returns true if a limit is reached.
    pub(super) fn is_refused(&self, now: Timestamp) -> bool {
        match &self.device {
            Some(device) => self.limits.devices.is_key_reached(device, now),
            None => {
                self.limits.networks.is_reached(self.address, now) || self.limits.mails.is_key_reached(&self.mail, now)
            }
        }
    }

    /// Begins a guess of a second factor in the known browser or the session. Returns `None` for an unknown browser.
    pub(super) fn factor_guess(&self) -> Option<FactorGuess> {
        Some(FactorGuess::new(self.limits, self.device.clone()?))
    }

    /// Counts a wrong password.
    pub(super) fn record_wrong(&self, now: Timestamp) {
        // The limit is checked before a password, so a counter that is full needs no answer here.
        match &self.device {
            Some(device) => drop(self.limits.devices.record_key(device, now)),
            None => {
                let _ = self.limits.networks.record_attempt(self.address, now);
                let _ = self.limits.mails.record_key(&self.mail, now);
            }
        }
    }

    /// Returns the name under which the hash takes its turns, so that a flood from one network delays no other.
    pub(super) fn tenant(&self) -> String {
        match &self.device {
            Some(device) => format!("sign-in device {device}"),
            None => format!("sign-in {:x}", counted_network(self.address)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn guessers_keep_strangers_out_for_a_while_and_a_known_browser_never() {
        let (limits, now) = (SignInLimits::default(), Timestamp::from_second(1_800_000_000).unwrap());
        let address = |number: u8| IpAddr::from([192, 0, 2, number]);
        for number in 0..20 {
            let attempt = limits.attempt(address(number), "jo@shop.example", None);
            assert!(!attempt.is_refused(now), "{number}");
            attempt.record_wrong(now);
        }
        assert!(limits.attempt(address(99), "jo@shop.example", None).is_refused(now));
        assert!(!limits.attempt(address(99), "al@shop.example", None).is_refused(now));
        let known = limits.attempt(address(0), "jo@shop.example", Some("device".to_owned()));
        assert!(!known.is_refused(now));
        for _ in 0..20 {
            known.record_wrong(now);
        }
        assert!(known.is_refused(now));
        assert!(known.factor_guess().unwrap().is_refused(now));
        for _ in 0..20 {
            let guess = limits.guess_in_session(1);
            assert!(!guess.is_refused(now));
            guess.record_wrong(now);
            // Decided again after its transaction was undone, it is the same guess.
            assert!(!guess.is_refused(now));
            guess.record_wrong(now);
        }
        assert!(limits.guess_in_session(1).is_refused(now) && !limits.guess_in_session(2).is_refused(now));
        // A new mail address gives its guessers no new attempts.
        limits.follow_mail("jo@shop.example", "new@shop.example");
        assert!(limits.attempt(address(99), "new@shop.example", None).is_refused(now));
        let later = Timestamp::from_second(1_800_003_601).unwrap();
        assert!(!limits.attempt(address(99), "jo@shop.example", None).is_refused(later));
    }

    #[test]
    fn so_many_passwords_wait_at_a_time() {
        let limits = SignInLimits::default();
        let mut places: Vec<_> = (0..MAX_WAITING).map(|_| limits.wait().unwrap()).collect();
        assert!(limits.wait().is_none() && limits.wait().is_none());
        places.pop();
        assert!(limits.wait().is_some());
    }
}
