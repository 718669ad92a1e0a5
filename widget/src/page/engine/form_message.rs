//! Messages to a form: everything that happens to it.

use std::rc::Rc;

use tillgate_shared::frame_messages::{Config, FieldReport, FrameField};

use crate::page::bridge::Value;
use crate::page::relay::RelayAnswer;

/// A message for the form as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The text. A line break begins another line.
    pub text: String,
    /// Buttons behind it, as texts and actions.
    pub actions: Vec<(String, NoticeAction)>,
}

impl Notice {
    /// A message about something that went wrong.
    pub fn error(text: String) -> Self {
        Self { text, actions: Vec::new() }
    }
}

/// The action of a button in a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeAction {
    /// Brings the window of the brand to the front, or pays again if it is closed.
    ShowWindow,
    /// Gives up the window of the brand.
    CancelWindow,
    /// Gives up the 3-D Secure challenge.
    CancelChallenge,
}

/// A step of the removal of a stored account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveStep {
    /// The form asks if the account is to be removed.
    Ask,
    /// The account is kept.
    Keep,
    /// The account is removed.
    Remove,
}

/// An event of a form.
pub enum Message {
    /// A frame reported something about its field.
    Frame(FrameField, FieldReport<Value>),
    /// The shopper typed into an input of the page, or chose something there.
    Typed(usize),
    /// The shopper left an input of the page.
    Left(usize),
    /// The shopper chose the brand of the card.
    BrandChosen(String),
    /// The shopper chose a stored account.
    AccountChosen(usize),
    /// The shopper pressed a button about the removal of a stored account.
    RemovePressed {
        /// Position of the account.
        entry: usize,
        /// The button.
        step: RemoveStep,
    },
    /// A stored account has been removed, or not.
    Removed {
        /// Position of the account.
        entry: usize,
        /// True if it has been.
        is_removed: bool,
    },
    /// The shopper chose how an account at the brand is named.
    ModeChosen(String),
    /// Somebody wants to pay: by the button, Enter, or a script of the merchant.
    Pay,
    /// The merchant let the submit continue with this checkout. Empty if it could not be created, `None` if stopped.
    Confirmed(Option<String>),
    /// The sheet of a wallet was closed. If the shopper agreed, the relay frame has the token.
    SheetClosed {
        /// Id of the checkout.
        checkout: String,
        /// True if the shopper agreed.
        agreed: bool,
    },
    /// The gateway answered.
    Answered(Box<RelayAnswer>),
    /// The payment was declined after a challenge, and the form stays.
    Declined,
    /// Time to look after the frame that has the request, or those that have been asked.
    FrameCheckDue,
    /// The gateway told the state of the checkout of a lost submit. `None` if it did not in time.
    StateRead(Option<Box<RelayAnswer>>),
    /// The checkout may offer other brands or accounts than before.
    Offered(Rc<Config>),
    /// Shows a message, or none.
    Notice(Option<Notice>),
    /// Says something to screen readers.
    Announce(String),
    /// A submit has been under way for some time.
    StillBusy {
        /// Number of the submit.
        submit: u32,
        /// Key of the text that says so.
        key: &'static str,
    },
    /// Nothing is under way any more.
    Idle,
    /// The shopper is back from another page: the focus returns to where it was at the submit.
    ReturnFocus,
    /// The page may look different than before.
    Restyle,
    /// Frames and configuration of a card have come.
    Complete,
    /// The field that the merchant wants gets the focus.
    Autofocus,
    /// A field gets the focus: its label was pressed, or the edge of its frame.
    FocusWanted(usize),
    /// A text takes the form's place, by its key.
    End(&'static str),
}
