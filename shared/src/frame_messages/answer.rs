//! The part of the gateway's answer to a submit that the page may know.

use super::Source;
use crate::brand::Flow;

/// Method of a request for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PageMethod {
    /// GET.
    #[default]
    Get,
    /// POST.
    Post,
}

/// A page that the shopper goes to, or that a frame loads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Its address, http or https. `None` for the merchant's result page.
    pub url: Option<String>,
    /// Method of the request.
    pub method: PageMethod,
    /// Parameters, as names and values.
    pub parameters: Vec<(String, String)>,
    /// Pages that a hidden frame has to load before.
    pub preconditions: Vec<Self>,
}

impl Page {
    fn read(data: &impl Source) -> Self {
        let method = if data.text("method") == "POST" { PageMethod::Post } else { PageMethod::Get };
        let pair = |item: &_| (Source::text(item, "name"), Source::text(item, "value"));
        Self {
            url: data.filled_text("url"),
            method,
            parameters: data.list("parameters").iter().map(pair).collect(),
            preconditions: data.list("preconditions").iter().map(Self::read).collect(),
        }
    }
}

/// An answer of the gateway. A status of 0 means that none came.
#[derive(Debug, Clone, PartialEq)]
pub struct GatewayAnswer<S> {
    /// HTTP status.
    pub status: u16,
    /// Id of the checkout.
    pub id: String,
    /// Way in which the payment continues. `None` for an unknown one.
    pub flow: Option<NextStep>,
    /// The page that the shopper goes to.
    pub redirect: Option<Page>,
    /// Advice for the next attempt, if the last one was declined and the shopper may try again: the end of the key of
    /// its text.
    pub advice: String,
    /// True if the page is that of a 3-D Secure authentication.
    pub three_ds: bool,
    /// The data of a payment that waits for the merchant's confirmation.
    pub saved: Option<S>,
    /// State of the checkout, such as `OPEN`.
    pub checkout_state: String,
    /// Description of the result.
    pub description: String,
    /// Names of wrong parameters.
    pub wrong: Vec<String>,
    /// Names of parameters that had no effect, because a browser may not set them. Only a sandbox tells them.
    pub ignored: Vec<String>,
}

/// Way in which a submitted payment continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// In the way of its brand.
    Flow(Flow),
    /// In a frame of the page.
    Inline,
    /// It waits for the merchant's confirmation.
    Saved,
    /// It does not: it was declined, and the form stays for another attempt.
    Retry,
}

impl NextStep {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "inline" => Some(Self::Inline),
            "saved" => Some(Self::Saved),
            "retry" => Some(Self::Retry),
            _ => Flow::parse(name).map(Self::Flow),
        }
    }
}

impl<S: Source> GatewayAnswer<S> {
    /// Reads an answer.
    pub fn read(data: &S) -> Self {
        Self {
            status: data.get("status").and_then(|value| value.as_number()).unwrap_or_default() as u16,
            id: data.text("id"),
            flow: NextStep::parse(&data.text("flow")),
            redirect: data.get("redirect").map(|page| Page::read(&page)),
            advice: data.text("advice"),
            three_ds: data.flag("threeDSecure"),
            saved: data.get("saved"),
            checkout_state: data.text("checkoutState"),
            description: data.text("description"),
            wrong: data.texts("wrong"),
            ignored: data.texts("ignored"),
        }
    }
}
