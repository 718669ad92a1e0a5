//! What an issuer is told about a payment when it is asked to authenticate its cardholder (EMV 3-D Secure 2: AReq), in the
//! value sets of the protocol. The catalogue has judged how each value looks; what is no value of the protocol is refused
//! here.

use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;

use crate::domain::channel::ThreeD;
use crate::domain::refusal::Refusal;

/// A set of codes with what each means.
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$one:meta])* $code:literal => $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$one])* $variant,)* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code of the protocol.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// A value by its code.
            pub fn find(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.code() == code)
            }
        }
    };
}

codes! {
    /// What the merchant wishes of a challenge (`threeDSRequestorChallengeInd`).
    Wish {
        /// No wish.
        "01" => None,
        /// None, please.
        "02" => NoChallenge,
        /// One, by the merchant's own wish.
        "03" => Challenge,
        /// One, because a law asks for it.
        "04" => Mandate,
        /// None: the risk has been analysed. From version 2.2 on, as all that follow.
        "05" => RiskAnalysed,
        /// None: the data are shared and nothing more.
        "06" => DataShareOnly,
        /// None: the cardholder is authenticated strongly already.
        "07" => AlreadyAuthenticated,
        /// None: the cardholder trusts this merchant.
        "08" => TrustedBeneficiary,
        /// One, to make this merchant a trusted one.
        "09" => TrustPrompt,
    }
}

codes! {
    /// Why strong authentication is not asked for (`threeDSecure.exemptionFlag`).
    Exemption {
        /// A low value.
        "01" => LowValue,
        /// The risk has been analysed.
        "02" => RiskAnalysis,
        /// The cardholder trusts this merchant.
        "03" => TrustedBeneficiary,
        /// A secure payment of a company.
        "04" => SecureCorporate,
    }
}

codes! {
    /// How the issuer authenticates (`authenticationType`).
    AuthType {
        /// By a secret that stays the same.
        "01" => Static,
        /// By a secret that changes.
        "02" => Dynamic,
        /// Outside of the page.
        "03" => OutOfBand,
        /// Later, on another device.
        "04" => Decoupled,
    }
}

codes! {
    /// The size of the window that a challenge is shown in (`challengeWindowSize`).
    Window {
        /// 250 × 400 pixels.
        "01" => W250,
        /// 390 × 400 pixels.
        "02" => W390,
        /// 500 × 600 pixels.
        "03" => W500,
        /// 600 × 400 pixels.
        "04" => W600,
        /// The whole screen.
        "05" => Full,
    }
}

/// What is known of the shopper's browser. A page without scripts cannot tell everything; the issuer is then told that
/// there are none (EMV 3-D Secure 2.2: `browserJavascriptEnabled`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Browser {
    /// Its Accept header.
    pub accept: Option<String>,
    /// Its language, a BCP 47 tag.
    pub language: Option<String>,
    /// Its User-Agent header.
    pub user_agent: Option<String>,
    /// What only a script finds out.
    pub screen: Option<Screen>,
    /// The size of the window for the challenge.
    pub window: Option<Window>,
}

/// What a script in the browser finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Height in pixels.
    pub height: u32,
    /// Width in pixels.
    pub width: u32,
    /// Bits per pixel.
    pub color_depth: Option<u8>,
    /// Minutes between UTC and local time; positive where local time is behind.
    pub timezone: i16,
    /// Whether it runs Java.
    pub java: bool,
}

/// The message to an issuer that asks to authenticate a cardholder (AReq).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthenticationMessage {
    /// What the shopper is asked to agree to: `risk.amount` when it is sent, the payment's own otherwise.
    pub amount: Amount,
    /// The browser.
    pub browser: Browser,
    /// What the merchant wishes.
    pub wish: Option<Wish>,
    /// Whether a law asks for a challenge.
    pub mandated: bool,
    /// Why no authentication is needed.
    pub exemption: Option<Exemption>,
    /// How the issuer is to authenticate.
    pub auth_type: Option<AuthType>,
}

impl AuthenticationMessage {
    /// Reads what is known of a payment of an amount. Where `policy` requires authentication, no exemption is asked for:
    /// the payment could not do without the authentication that an exemption saves.
    ///
    /// # Errors
    /// The parameter whose value the protocol does not have.
    pub fn read(parameters: &Parameters, amount: Amount, policy: ThreeD) -> Result<Self, Refusal> {
        let get = |name: &str| parameters.get(name);
        // The single digit is for the simulated directory, which has read it.
        let wish = get("threeDSecure.challengeIndicator").map(|wish| if wish == "4" { "04" } else { wish });
        let wish = value("threeDSecure.challengeIndicator", wish, Wish::find)?;
        let exemption = value("threeDSecure.exemptionFlag", get("threeDSecure.exemptionFlag"), Exemption::find)?;
        let may_exempt = policy != ThreeD::Required;
        Ok(Self {
            amount: three_d_amount(parameters, amount)?,
            browser: Browser::read(parameters)?,
            wish: wish.filter(|wish| may_exempt || !wish.is_exemption()),
            mandated: get("threeDSecure.challengeMandatedIndicator") == Some("Y"),
            exemption: exemption.filter(|_| may_exempt),
            auth_type: value("threeDSecure.authType", get("threeDSecure.authType"), AuthType::find)?,
        })
    }

    /// Returns true if the merchant asks for an exemption from strong authentication: by `threeDSecure.exemptionFlag`, or by
    /// a wish that stands for one.
    pub fn asks_for_exemption(&self) -> bool {
        self.exemption.is_some() || self.wish.is_some_and(Wish::is_exemption)
    }
}

impl Wish {
    /// Returns true for a wish that no authentication takes place, which came with version 2.2 of the protocol.
    pub fn is_exemption(self) -> bool {
        matches!(self, Self::RiskAnalysed | Self::DataShareOnly | Self::AlreadyAuthenticated | Self::TrustedBeneficiary)
    }
}

impl Browser {
    fn read(parameters: &Parameters) -> Result<Self, Refusal> {
        let get = |field: &str| parameters.get(&format!("customer.browser.{field}"));
        let text = |field: &str| get(field).map(str::to_owned);
        let screen = || {
            Some(Screen {
                height: get("screenHeight")?.parse().ok()?,
                width: get("screenWidth")?.parse().ok()?,
                color_depth: get("screenColorDepth").and_then(|depth| depth.parse().ok()),
                timezone: get("timezone")?.parse().ok()?,
                java: get("javaEnabled")? == "true",
            })
        };
        Ok(Self {
            accept: text("acceptHeader"),
            language: text("language"),
            user_agent: text("userAgent"),
            screen: screen(),
            window: value("customer.browser.challengeWindow", get("challengeWindow"), Window::find)?,
        })
    }
}

/// What the shopper is asked to agree to (specification, document 3: `risk.amount`).
///
/// # Errors
/// `risk.amount` by name, when the currency cannot express it.
pub fn three_d_amount(parameters: &Parameters, amount: Amount) -> Result<Amount, Refusal> {
    const NAME: &str = "risk.amount";
    let Some(text) = parameters.get(NAME) else { return Ok(amount) };
    Amount::parse(text, amount.currency()).map_err(|error| Refusal::parameter(NAME, Some(text), error.message()))
}

fn value<T>(name: &str, sent: Option<&str>, find: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Refusal> {
    let Some(sent) = sent else { return Ok(None) };
    match find(sent) {
        Some(value) => Ok(Some(value)),
        None => Err(Refusal::parameter(name, Some(sent), "is not a value of EMV 3-D Secure")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_shared::money::Currency;

    use super::*;

    fn amount() -> Amount {
        Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap()
    }

    fn read(fields: &[(&str, &str)]) -> Result<AuthenticationMessage, Refusal> {
        AuthenticationMessage::read(&fields.iter().copied().collect(), amount(), ThreeD::WhenEnrolled)
    }

    #[test]
    fn what_a_merchant_sends_is_read_in_the_words_of_the_protocol() {
        let request = read(&[
            ("threeDSecure.challengeIndicator", "02"),
            ("threeDSecure.exemptionFlag", "02"),
            ("threeDSecure.authType", "03"),
            ("threeDSecure.challengeMandatedIndicator", "Y"),
            ("customer.browser.acceptHeader", "text/html"),
            ("customer.browser.screenHeight", "1080"),
            ("customer.browser.screenWidth", "1920"),
            ("customer.browser.screenColorDepth", "24"),
            ("customer.browser.timezone", "-60"),
            ("customer.browser.javaEnabled", "false"),
            ("customer.browser.challengeWindow", "05"),
            ("risk.amount", "80.00"),
        ])
        .unwrap();
        assert_eq!((request.wish, request.mandated), (Some(Wish::NoChallenge), true));
        assert_eq!((request.exemption, request.auth_type), (Some(Exemption::RiskAnalysis), Some(AuthType::OutOfBand)));
        assert_eq!(request.amount.to_string(), "80.00");
        let screen = Screen { height: 1080, width: 1920, color_depth: Some(24), timezone: -60, java: false };
        assert_eq!((request.browser.screen, request.browser.window), (Some(screen), Some(Window::Full)));
        assert_eq!(request.browser.accept.as_deref(), Some("text/html"));
        let bare = read(&[]).unwrap();
        assert_eq!((bare.amount, bare.browser), (amount(), Browser::default()));
    }

    #[test]
    fn what_is_no_value_of_the_protocol_is_refused_by_name() {
        for (name, value) in [
            ("customer.browser.challengeWindow", "06"),
            ("customer.browser.challengeWindow", "00"),
            ("threeDSecure.authType", "05"),
            ("threeDSecure.exemptionFlag", "00"),
            ("threeDSecure.challengeIndicator", "10"),
        ] {
            let refusal = read(&[(name, value)]).unwrap_err();
            assert_eq!(refusal.parameters.first().map(|error| error.name.as_str()), Some(name));
        }
        let yen = Amount::parse("92.00", Currency::parse("JPY").unwrap()).unwrap();
        let sent: Parameters = [("risk.amount", "80.50")].into_iter().collect();
        assert_eq!(
            AuthenticationMessage::read(&sent, yen, ThreeD::WhenEnrolled).unwrap_err().parameters.first().unwrap().name,
            "risk.amount"
        );
    }

    #[test]
    fn every_code_is_found_again() {
        assert!(Wish::ALL.iter().all(|wish| Wish::find(wish.code()) == Some(*wish)));
        assert!(Exemption::ALL.iter().all(|one| Exemption::find(one.code()) == Some(*one)));
        assert!(AuthType::ALL.iter().all(|one| AuthType::find(one.code()) == Some(*one)));
        assert!(Window::ALL.iter().all(|one| Window::find(one.code()) == Some(*one)));
    }
}
