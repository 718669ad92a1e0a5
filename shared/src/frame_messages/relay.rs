//! Messages of the relay frame, which sends the forms without a card number.

use super::{Config, GatewayAnswer, Sink, Source, VERSION};

/// A call of the page module to the relay frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayCall {
    /// Pays with these fields.
    Submit {
        /// Fields of the page, as names and values.
        fields: Vec<(String, String)>,
        /// Nonce of the form, by which the frame of its security code is found.
        form: String,
        /// True if a frame of the form holds a security code.
        code: bool,
        /// True if a wallet's sheet has left its token with the relay frame.
        wallet: bool,
    },
    /// Reads the state of the checkout.
    ReadState,
    /// Deletes a stored account.
    Remove {
        /// Id of the registration.
        registration: String,
    },
}

impl RelayCall {
    /// The types of these messages.
    pub const TYPES: &[&str] = &["submit", "state", "remove"];

    /// Writes the call with its number, about a checkout.
    pub fn write<T: Sink>(&self, call: u32, checkout: &str) -> T {
        let mut data = T::empty();
        data.set_number("tillgate", f64::from(VERSION));
        data.set_number("call", f64::from(call));
        data.set_text("checkout", checkout);
        match self {
            Self::Submit { fields, form, code, wallet } => {
                data.set_text("type", "submit");
                data.set_pairs("fields", fields);
                data.set_text("form", form);
                data.set_flag("code", *code);
                data.set_flag("wallet", *wallet);
            }
            Self::ReadState => data.set_text("type", "state"),
            Self::Remove { registration } => {
                data.set_text("type", "remove");
                data.set_text("registration", registration);
            }
        }
        data
    }
}

/// A message from the relay frame to the page module.
#[derive(Debug, Clone, PartialEq)]
pub enum RelayReport<S> {
    /// The frame has loaded.
    Ready(Box<Config>),
    /// The answer to a call.
    Answer {
        /// Number of the call.
        call: u32,
        /// The gateway's answer.
        answer: Box<GatewayAnswer<S>>,
    },
    /// A wallet's sheet was closed.
    Wallet {
        /// Nonce of the form.
        form: String,
        /// True if the shopper agreed.
        agreed: bool,
    },
}

impl<S> RelayReport<S> {
    /// The types of these messages.
    pub const TYPES: &[&str] = &["ready", "answer", "wallet"];
}

impl<S: Source> RelayReport<S> {
    /// Reads a message. `None` if its type is unknown.
    pub fn read(data: &S) -> Option<Self> {
        Some(match data.text("type").as_str() {
            "ready" => Self::Ready(Box::new(Config::read(&data.get("config")?))),
            "answer" => Self::Answer {
                call: data.get("call")?.as_number()? as u32,
                answer: Box::new(GatewayAnswer::read(&data.get("answer")?)),
            },
            "wallet" => Self::Wallet { form: data.text("form"), agreed: data.flag("agreed") },
            _ => return None,
        })
    }
}
