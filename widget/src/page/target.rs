//! Windows and frames in which pages open: which one, and its address.

use tillgate_shared::brand::Flow;
use tillgate_shared::frame_messages::NextStep;

/// The whole tab.
pub const TAB: &str = "_top";

/// The window that holds the form, as browsers name it.
const OWN: &str = "_self";
/// The window around that one.
const PARENT: &str = "_parent";

/// A window that the merchant names, seen from the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedWindow {
    /// The whole tab.
    Tab,
    /// The window that holds the form: the tab, or a frame of the shop.
    Own,
    /// The window around that one.
    Parent,
    /// A frame of the page, or any other window with a name.
    Other,
}

impl NamedWindow {
    /// Classifies a name. `own` is the name of the window that holds the form.
    pub fn classify(name: &str, own: &str) -> Self {
        match name {
            "" | TAB => Self::Tab,
            OWN => Self::Own,
            PARENT => Self::Parent,
            _ if name == own => Self::Own,
            _ => Self::Other,
        }
    }

    /// Returns true if a challenge in this window replaces the page, and its end can still open the result page in
    /// `result`. A page that has to stay for the sake of its frames shows the challenge itself, so the result arrives
    /// where it would have arrived without a challenge. `is_tab` is true if the form is in the tab's own page.
    pub fn replaces_page(self, result: Self, is_tab: bool) -> bool {
        match self {
            Self::Tab => result == Self::Tab || (is_tab && result != Self::Other),
            Self::Own => result != Self::Other,
            Self::Parent | Self::Other => false,
        }
    }

    /// Returns the value of the issuer's page's parameter `resultWindow`, for a page in the window of the form. `None`
    /// for the tab, which is its default.
    pub fn result_window(self) -> Option<&'static str> {
        match self {
            Self::Own => Some("self"),
            Self::Parent => Some("parent"),
            Self::Tab | Self::Other => None,
        }
    }
}

/// Windows that the merchant wants, as far as the page has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WantedTargets<'a> {
    /// Window for the pages of cards. Empty if the merchant names none, or none of this page.
    pub payment: &'a str,
    /// Window for the result page. Empty if the merchant names none.
    pub result: &'a str,
}

/// Returns the window for a page. `is_card` is true for a card, also a stored one. Only pages of cards open elsewhere
/// than in the tab, and the result page of a card with them.
pub fn select_target<'a>(is_card: bool, step: Option<NextStep>, wanted: WantedTargets<'a>) -> &'a str {
    if !is_card || wanted.payment.is_empty() {
        return TAB;
    }
    let target = if step == Some(NextStep::Flow(Flow::Now)) { wanted.result } else { wanted.payment };
    if target.is_empty() { TAB } else { target }
}

/// Adds parameters to the query of an address. Existing parameters and the fragment stay. Names and values are
/// encoded by `encode`.
pub fn add_parameters(address: &str, parameters: &[(String, String)], encode: impl Fn(&str) -> String) -> String {
    let (before, fragment) = match address.find('#') {
        Some(at) => address.split_at(at),
        None => (address, ""),
    };
    let pairs: Vec<String> =
        parameters.iter().map(|(name, value)| [&encode(name), "=", &encode(value)].concat()).collect();
    let separator = match before {
        _ if pairs.is_empty() || before.ends_with(['?', '&']) => "",
        _ if before.contains('?') => "&",
        _ => "?",
    };
    [before, separator, &pairs.join("&"), fragment].concat()
}

/// Returns the size of the window for a challenge, 1 to 5 (EMV 3-D Secure, challengeWindowSize): the merchant's, or the
/// largest that fits into a form of this width in pixels. A window of the merchant's own gets the whole screen, and so
/// does a page on a small one (`covers_page`).
pub fn challenge_window(wanted: Option<u8>, has_own_window: bool, covers_page: bool, width: i32) -> u8 {
    match wanted {
        Some(size) => size,
        None if has_own_window || covers_page => 5,
        None => match width {
            ..390 => 1,
            390..500 => 2,
            500..600 => 3,
            _ => 4,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_cards_alone_open_in_the_payment_target() {
        let redirect = Some(NextStep::Flow(Flow::Redirect));
        let now = Some(NextStep::Flow(Flow::Now));
        for (is_card, step, payment, result, expected) in [
            (true, redirect, "mine", "", "mine"),
            (false, redirect, "mine", "mine", "_top"),
            (true, redirect, "", "mine", "_top"),
            (true, now, "mine", "", "_top"),
            (true, now, "_top", "mine", "mine"),
            (true, Some(NextStep::Inline), "mine", "other", "mine"),
        ] {
            assert_eq!(
                select_target(is_card, step, WantedTargets { payment, result }),
                expected,
                "{step:?} {payment} {result}"
            );
        }
    }

    #[test]
    fn a_page_is_replaced_only_if_the_result_needs_no_frame_of_it() {
        let classify = |name| NamedWindow::classify(name, "holder");
        for (payment, result, is_tab, expected) in [
            ("_top", "", false, true),
            ("_top", "mine", true, false),
            ("_top", "holder", true, true),
            ("_top", "holder", false, false),
            ("_top", "_self", false, false),
            ("holder", "", false, true),
            ("holder", "holder", false, true),
            ("_self", "_parent", false, true),
            ("holder", "mine", false, false),
            ("mine", "", false, false),
        ] {
            assert_eq!(classify(payment).replaces_page(classify(result), is_tab), expected, "{payment} {result}");
        }
        assert_eq!(NamedWindow::classify("", ""), NamedWindow::Tab);
    }

    #[test]
    fn parameters_join_the_query_that_is_there() {
        let add =
            |address: &str| add_parameters(address, &[("id".into(), "1 2".into())], |text| text.replace(' ', "%20"));
        assert_eq!(add("https://shop.example/r"), "https://shop.example/r?id=1%202");
        assert_eq!(add("https://shop.example/r?own=2#part"), "https://shop.example/r?own=2&id=1%202#part");
        assert_eq!(add("/r?"), "/r?id=1%202");
        assert_eq!(add_parameters("/r#x", &[], str::to_owned), "/r#x");
    }

    #[test]
    fn a_challenge_fits_into_the_form() {
        for (width, size) in [(320, 1), (390, 2), (499, 2), (500, 3), (720, 4)] {
            assert_eq!(challenge_window(None, false, false, width), size);
        }
        assert_eq!(challenge_window(Some(1), true, true, 720), 1);
        assert_eq!(challenge_window(None, true, false, 720), 5);
        assert_eq!(challenge_window(None, false, true, 328), 5);
    }
}
