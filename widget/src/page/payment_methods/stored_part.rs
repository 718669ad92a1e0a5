//! The particulars of the form with stored accounts.

use tillgate_shared::frame_messages::StoredAccount;
use yew::NodeRef;

/// A stored account in the form.
#[derive(Debug, Clone)]
pub struct StoredEntry {
    /// The account.
    pub account: StoredAccount,
    /// Position of the field for its holder, if it has none and needs one.
    pub holder: Option<usize>,
    /// True if it is a card that has expired, and the form does not leave that to the issuer.
    pub(super) is_expired: bool,
    /// Position of the field for the new date of an expired card. `None` if the page may not have such a field.
    pub(super) date: Option<usize>,
    /// Its group.
    pub(super) group: NodeRef,
    /// Its radio button.
    pub(super) radio: NodeRef,
    /// False once the checkout does not offer it any more, or the shopper has removed it.
    pub(super) is_offered: bool,
    /// The question about its removal.
    pub(super) question: NodeRef,
    /// True while it is being removed.
    pub(super) is_leaving: bool,
}

/// The particulars of the form with stored accounts.
#[derive(Debug)]
pub struct StoredPart {
    /// The accounts.
    pub entries: Vec<StoredEntry>,
    /// Position of the chosen one.
    pub(super) chosen: Option<usize>,
    /// True if the shopper may remove accounts.
    pub(super) is_deletable: bool,
    /// True if the server demands the code of stored cards.
    pub(super) requires_code: bool,
}

impl StoredEntry {
    /// Returns true if it cannot be chosen: it has expired, and the form may not ask for its new date.
    pub(super) fn is_blocked(&self) -> bool {
        self.is_expired && self.date.is_none()
    }
}

impl StoredPart {
    /// Returns the chosen account.
    pub fn chosen_account(&self) -> Option<&StoredAccount> {
        self.chosen.and_then(|at| self.entries.get(at)).map(|entry| &entry.account)
    }

    /// Returns true if an account is chosen, or there is none to choose.
    pub(super) fn is_settled(&self) -> bool {
        self.chosen.is_some() || self.first_valid().is_none()
    }

    /// Returns the position of the first account that is offered.
    pub(super) fn first_offered(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.is_offered)
    }

    /// Returns the position of the first account that is offered and has not expired. An expired card needs its new
    /// date, so shoppers may choose one, but the form does not.
    pub(super) fn first_valid(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.is_offered && !entry.is_expired)
    }
}
