//! The authentication request to an issuer (EMV 3-D Secure 2: AReq), in the value sets of the protocol. The formats of
//! parameters have been checked before; values that the protocol does not have are refused here.

use tillgate_domain::refusal::Refusal;
use tillgate_domain::three_ds::ThreeDsPolicy;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;

/// Declares an enum of protocol codes.
macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$one:meta])* $code:literal => $variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$one])* $variant,)* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the code of the protocol.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// Finds a value by its code.
            pub fn find(code: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.code() == code)
            }
        }
    };
}

codes! {
    /// The merchant's preference for a challenge (`threeDSRequestorChallengeInd`).
    ChallengePreference {
        /// No preference.
        "01" => None,
        /// No challenge requested.
        "02" => NoChallenge,
        /// Challenge requested by the merchant's preference.
        "03" => Challenge,
        /// Challenge requested because a law mandates it.
        "04" => Mandate,
        /// No challenge requested: the risk has been analysed. This and all following values exist from version 2.2 on.
        "05" => RiskAnalysed,
        /// No challenge requested: the data are shared for information only.
        "06" => DataShareOnly,
        /// No challenge requested: strong cardholder authentication has been done already.
        "07" => AlreadyAuthenticated,
        /// No challenge requested: the merchant is a trusted beneficiary of the cardholder.
        "08" => TrustedBeneficiary,
        /// Challenge requested, to make this merchant a trusted beneficiary.
        "09" => TrustPrompt,
    }
}

codes! {
    /// The reason for an exemption from strong authentication (`threeDSecure.exemptionFlag`).
    Exemption {
        /// Low value.
        "01" => LowValue,
        /// Risk analysis.
        "02" => RiskAnalysis,
        /// Trusted beneficiary.
        "03" => TrustedBeneficiary,
        /// Secure corporate payment.
        "04" => SecureCorporate,
    }
}

codes! {
    /// The issuer's authentication method (`authenticationType`).
    AuthType {
        /// A static secret, such as a password.
        "01" => Static,
        /// A dynamic secret, such as a one-time code.
        "02" => Dynamic,
        /// Out of band, for example in the bank's app.
        "03" => OutOfBand,
        /// Decoupled: later, on another device.
        "04" => Decoupled,
    }
}

codes! {
    /// The size of the challenge window (`challengeWindowSize`).
    ChallengeWindow {
        /// 250 × 400 pixels.
        "01" => W250,
        /// 390 × 400 pixels.
        "02" => W390,
        /// 500 × 600 pixels.
        "03" => W500,
        /// 600 × 400 pixels.
        "04" => W600,
        /// Full screen.
        "05" => Full,
    }
}

/// Data of the shopper's browser. A page without scripts cannot collect all of them; the issuer is then informed that
/// scripts are disabled (EMV 3-D Secure 2.2: `browserJavascriptEnabled`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BrowserData {
    /// The Accept header.
    pub accept: Option<String>,
    /// The language, a BCP 47 tag.
    pub language: Option<String>,
    /// The User-Agent header.
    pub user_agent: Option<String>,
    /// The data that only a script can read.
    pub screen: Option<ScreenData>,
    /// The size of the challenge window.
    pub window: Option<ChallengeWindow>,
}

/// Browser data that only a script can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenData {
    /// Height in pixels.
    pub height: u32,
    /// Width in pixels.
    pub width: u32,
    /// Bits per pixel.
    pub color_depth: Option<u8>,
    /// Minutes between UTC and local time; positive if local time is behind UTC.
    pub timezone: i16,
    /// True if the browser runs Java.
    pub java: bool,
}

/// The message that asks an issuer to authenticate a cardholder (AReq).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreeDsMessage {
    /// The amount that the shopper is asked to confirm: `risk.amount` if it was sent, otherwise the payment's own.
    pub amount: Amount,
    /// The browser.
    pub browser: BrowserData,
    /// The merchant's preference for a challenge.
    pub challenge_preference: Option<ChallengePreference>,
    /// True if a law mandates a challenge.
    pub challenge_mandated: bool,
    /// True if the risk rules of the merchant demand a challenge.
    pub challenge_demanded: bool,
    /// The exemption that the merchant requests.
    pub exemption: Option<Exemption>,
    /// The authentication method that the merchant requests.
    pub auth_type: Option<AuthType>,
}

impl ThreeDsMessage {
    /// Reads the request from the parameters of a payment with this amount. If `policy` requires authentication,
    /// neither an exemption nor a preference that implies one is requested: an exempted payment would lack the
    /// authentication that the policy demands.
    ///
    /// # Errors
    /// The parameter with a value that the protocol does not have, or `risk.amount` if the currency cannot express it.
    pub fn from_parameters(parameters: &Parameters, amount: Amount, policy: ThreeDsPolicy) -> Result<Self, Refusal> {
        let get = |name: &str| parameters.get(name);
        // The single digit `4` is for the simulated directory. The protocol's value is `04`.
        let code = get("threeDSecure.challengeIndicator").map(|code| if code == "4" { "04" } else { code });
        let preference = parse_code("threeDSecure.challengeIndicator", code, ChallengePreference::find)?;
        let exemption = parse_code("threeDSecure.exemptionFlag", get("threeDSecure.exemptionFlag"), Exemption::find)?;
        let may_exempt = policy != ThreeDsPolicy::Required;
        Ok(Self {
            amount: three_ds_amount(parameters, amount)?,
            browser: BrowserData::from_parameters(parameters)?,
            challenge_preference: preference.filter(|preference| may_exempt || !preference.is_exemption()),
            challenge_mandated: get("threeDSecure.challengeMandatedIndicator") == Some("Y"),
            challenge_demanded: false,
            exemption: exemption.filter(|_| may_exempt),
            auth_type: parse_code("threeDSecure.authType", get("threeDSecure.authType"), AuthType::find)?,
        })
    }

    /// Demands a challenge, in place of the preference and the exemption that the request has. The preference is `04`:
    /// after `03` an issuer may still authenticate the cardholder without a challenge.
    pub fn demand_challenge(&mut self) {
        self.challenge_preference = Some(ChallengePreference::Mandate);
        self.exemption = None;
        self.challenge_demanded = true;
    }

    /// Returns true if the merchant requests an exemption from strong authentication: by `threeDSecure.exemptionFlag`,
    /// or by a preference that implies one.
    pub fn requests_exemption(&self) -> bool {
        self.exemption.is_some() || self.challenge_preference.is_some_and(ChallengePreference::is_exemption)
    }
}

impl ChallengePreference {
    /// Returns true for the preferences, new in version 2.2 of the protocol, that imply an exemption from
    /// authentication.
    pub fn is_exemption(self) -> bool {
        matches!(self, Self::RiskAnalysed | Self::DataShareOnly | Self::AlreadyAuthenticated | Self::TrustedBeneficiary)
    }
}

impl BrowserData {
    /// Reads `customer.browser.*`. The screen is missing if one of height, width, time zone and Java is missing or
    /// unreadable.
    ///
    /// # Errors
    /// `customer.browser.challengeWindow` if the protocol has no such value.
    fn from_parameters(parameters: &Parameters) -> Result<Self, Refusal> {
        let get = |field: &str| parameters.get(&format!("customer.browser.{field}"));
        let text = |field: &str| get(field).map(str::to_owned);
        let screen = || {
            Some(ScreenData {
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
            window: parse_code("customer.browser.challengeWindow", get("challengeWindow"), ChallengeWindow::find)?,
        })
    }
}

/// Returns the amount that the shopper is asked to confirm (specification, document 3): `risk.amount` if it was sent,
/// otherwise `amount`.
///
/// # Errors
/// `risk.amount` by name if the currency cannot express it.
pub fn three_ds_amount(parameters: &Parameters, amount: Amount) -> Result<Amount, Refusal> {
    const NAME: &str = "risk.amount";
    let Some(text) = parameters.get(NAME) else { return Ok(amount) };
    Amount::parse(text, amount.currency())
        .map_err(|error| Refusal::invalid_parameter(NAME, Some(text), error.message()))
}

/// Finds the value of a parameter by its code. Returns `None` if the parameter was not sent.
///
/// # Errors
/// The parameter `name` if there is no such value.
fn parse_code<T>(name: &str, code: Option<&str>, find: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Refusal> {
    let Some(code) = code else { return Ok(None) };
    match find(code) {
        Some(value) => Ok(Some(value)),
        None => Err(Refusal::invalid_parameter(name, Some(code), "is not a value of EMV 3-D Secure")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_shared::money::Currency;

    use super::*;

    fn test_amount() -> Amount {
        Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap()
    }

    /// Reads the message of a payment of 92.00 EUR with these parameters, by a policy that permits exemptions.
    fn read_message(fields: &[(&str, &str)]) -> Result<ThreeDsMessage, Refusal> {
        ThreeDsMessage::from_parameters(&fields.iter().copied().collect(), test_amount(), ThreeDsPolicy::WhenEnrolled)
    }

    #[test]
    fn what_a_merchant_sends_is_read_in_the_words_of_the_protocol() {
        let request = read_message(&[
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
        assert_eq!(
            (request.challenge_preference, request.challenge_mandated),
            (Some(ChallengePreference::NoChallenge), true)
        );
        assert_eq!((request.exemption, request.auth_type), (Some(Exemption::RiskAnalysis), Some(AuthType::OutOfBand)));
        assert_eq!(request.amount.to_string(), "80.00");
        let screen = ScreenData { height: 1080, width: 1920, color_depth: Some(24), timezone: -60, java: false };
        assert_eq!((request.browser.screen, request.browser.window), (Some(screen), Some(ChallengeWindow::Full)));
        assert_eq!(request.browser.accept.as_deref(), Some("text/html"));
        let bare = read_message(&[]).unwrap();
        assert_eq!((bare.amount, bare.browser), (test_amount(), BrowserData::default()));
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
            let refusal = read_message(&[(name, value)]).unwrap_err();
            assert_eq!(refusal.parameters.first().map(|error| error.name.as_str()), Some(name));
        }
        let yen = Amount::parse("92.00", Currency::parse("JPY").unwrap()).unwrap();
        let sent: Parameters = [("risk.amount", "80.50")].into_iter().collect();
        assert_eq!(
            ThreeDsMessage::from_parameters(&sent, yen, ThreeDsPolicy::WhenEnrolled)
                .unwrap_err()
                .parameters
                .first()
                .unwrap()
                .name,
            "risk.amount"
        );
    }

    #[test]
    fn every_code_is_found_again() {
        assert!(ChallengePreference::ALL.iter().all(|one| ChallengePreference::find(one.code()) == Some(*one)));
        assert!(Exemption::ALL.iter().all(|one| Exemption::find(one.code()) == Some(*one)));
        assert!(AuthType::ALL.iter().all(|one| AuthType::find(one.code()) == Some(*one)));
        assert!(ChallengeWindow::ALL.iter().all(|one| ChallengeWindow::find(one.code()) == Some(*one)));
    }
}
