//! The four fields that can be wrong, and what can be wrong with them.

/// A field with a hint of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The card number, in a frame.
    Number,
    /// Month and year of expiry.
    Expiry,
    /// The name on the card.
    Holder,
    /// The security code, in a frame.
    Code,
}

impl Field {
    /// In the order of the form, which is the order in which focus looks for an error.
    pub const ALL: [Self; 4] = [Self::Number, Self::Expiry, Self::Holder, Self::Code];

    /// The last part of the field's class names.
    pub fn class(self) -> &'static str {
        match self {
            Self::Number => "cardNumber",
            Self::Expiry => "expiry",
            Self::Holder => "cardHolder",
            Self::Code => "cvv",
        }
    }

    /// The field that a parameter of the gateway's answer belongs to.
    pub fn of_parameter(name: &str) -> Option<Self> {
        match name {
            "card.number" => Some(Self::Number),
            "card.expiryMonth" | "card.expiryYear" => Some(Self::Expiry),
            "card.holder" => Some(Self::Holder),
            "card.cvv" => Some(Self::Code),
            _ => None,
        }
    }

    /// The error that says only that the field is wrong.
    pub fn plain_error(self) -> Fault {
        match self {
            Self::Number => Fault::Number,
            Self::Expiry => Fault::Month,
            Self::Holder => Fault::Holder,
            Self::Code => Fault::Code,
        }
    }
}

/// What is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No card number yet.
    NumberEmpty,
    /// Wrong length or check digit.
    Number,
    /// A good number of another brand than the chosen one.
    OtherBrand,
    /// No month and year can be read.
    Month,
    /// The card has expired.
    Past,
    /// A name that cannot be one.
    Holder,
    /// Wrong length of the security code.
    Code,
}

impl Fault {
    /// The key of the message.
    pub fn message(self) -> &'static str {
        match self {
            Self::NumberEmpty => "cardNumberEmpty",
            Self::OtherBrand => "cardBrandError",
            other => other.hint(),
        }
    }

    /// The last part of the hint's class, as merchants' style sheets know it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::NumberEmpty | Self::Number | Self::OtherBrand => "cardNumberError",
            Self::Month => "expiryMonthError",
            Self::Past => "expiryYearError",
            Self::Holder => "cardHolderError",
            Self::Code => "cvvError",
        }
    }
}

/// What a frame tells about its field; never a digit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameState {
    /// The frame has said hello.
    pub ready: bool,
    /// Nothing has been typed.
    pub empty: bool,
    /// The shared checks have run.
    pub known: bool,
    /// Judged by the brand that is chosen now. Another's word on `complete` and `valid` counts for nothing.
    pub fresh: bool,
    /// As long as it can be for its brand.
    pub complete: bool,
    /// Passes all checks.
    pub valid: bool,
    /// May be left empty, of a code: there are cards of this brand without one.
    pub optional: bool,
    /// Offered brands whose ranges fit, of a number.
    pub brands: Vec<String>,
}

/// What is wrong with the card number, judged by what its frame told.
/// `brand` is the chosen one.
pub fn number_fault(state: &FrameState, brand: &str) -> Option<Fault> {
    if state.empty {
        return Some(Fault::NumberEmpty);
    }
    if !state.known || !state.fresh || state.valid {
        return None;
    }
    let other = state.complete && !state.brands.is_empty() && !state.brands.iter().any(|b| b == brand);
    Some(if other { Fault::OtherBrand } else { Fault::Number })
}

/// What is wrong with the security code.
pub fn code_fault(state: &FrameState, required: bool) -> Option<Fault> {
    if state.empty {
        return (required && !state.optional).then_some(Fault::Code);
    }
    (state.known && state.fresh && !state.valid).then_some(Fault::Code)
}

/// What is wrong with the name on the card. The contract makes it optional unless the merchant wants one; it must not look
/// like a card number typed in the wrong field.
pub fn holder_fault(text: &str, required: bool) -> Option<Fault> {
    let text = text.trim();
    let length = text.chars().count();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let short = length < 3 && (required || length > 0);
    (length > 128 || short || digits > 5).then_some(Fault::Holder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_number_is_told_apart_from_a_wrong_one() {
        let empty = FrameState { ready: true, empty: true, ..FrameState::default() };
        assert_eq!(number_fault(&empty, "VISA"), Some(Fault::NumberEmpty));
        let wrong = FrameState { ready: true, known: true, fresh: true, ..FrameState::default() };
        assert_eq!(number_fault(&wrong, "VISA"), Some(Fault::Number));
        let stale = FrameState { fresh: false, ..wrong.clone() };
        assert_eq!(number_fault(&stale, "VISA"), None, "judged by another brand");
        let other = FrameState { complete: true, brands: vec!["MASTER".into()], ..wrong.clone() };
        assert_eq!(number_fault(&other, "VISA"), Some(Fault::OtherBrand));
        let unknown = FrameState { ready: true, ..FrameState::default() };
        assert_eq!(number_fault(&unknown, "VISA"), None);
    }

    #[test]
    fn a_code_may_be_left_out_where_it_is_not_required() {
        let empty = FrameState { empty: true, ..FrameState::default() };
        assert_eq!(code_fault(&empty, false), None);
        assert_eq!(code_fault(&empty, true), Some(Fault::Code));
    }

    #[test]
    fn a_number_is_no_name() {
        assert_eq!(holder_fault("", false), None);
        assert_eq!(holder_fault("", true), Some(Fault::Holder));
        assert_eq!(holder_fault("Jane Jones", true), None);
        assert_eq!(holder_fault("J", false), Some(Fault::Holder));
        assert_eq!(holder_fault("4200 0000 0000 0000", false), Some(Fault::Holder));
    }
}
