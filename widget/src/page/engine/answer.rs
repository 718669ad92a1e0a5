//! The meaning of the gateway's answers for a form.

/// The meaning of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The payment goes on.
    Accepted,
    /// These parameters, which are fields of the form, are wrong.
    WrongFields(Vec<String>),
    /// The checkout has expired, or does not exist.
    CheckoutGone,
    /// The brand is no longer offered. The text is for the developer.
    BrandWithdrawn(String),
    /// The button showed an amount that is not charged any more.
    AmountChanged,
    /// Something else is wrong. The text is for the shopper and the developer.
    Refused(String),
    /// The request did not get through.
    Unsent,
    /// No answer came, so nobody knows if the request got through.
    Unknown,
}

/// Classifies an answer by its HTTP status, the description of its result, and the names of wrong parameters. `is_own`
/// says if a parameter is a field of the form.
pub fn classify(status: u16, description: &str, wrong: &[String], is_own: impl Fn(&str) -> bool) -> Outcome {
    if status == 200 {
        return Outcome::Accepted;
    }
    let own: Vec<String> = wrong.iter().filter(|name| is_own(name)).cloned().collect();
    if !own.is_empty() {
        return Outcome::WrongFields(own);
    }
    if wrong.iter().any(|name| name == "shownAmount") {
        return Outcome::AmountChanged;
    }
    match status {
        404 | 410 => Outcome::CheckoutGone,
        400 if !description.is_empty() => {
            let text =
                std::iter::once(description).chain(wrong.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
            if wrong.iter().any(|name| name == "paymentBrand") {
                Outcome::BrandWithdrawn(text)
            } else {
                Outcome::Refused(text)
            }
        }
        0 => Outcome::Unknown,
        _ => Outcome::Unsent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classify_with(status: u16, description: &str, wrong: &[&str]) -> Outcome {
        let wrong: Vec<String> = wrong.iter().map(|name| (*name).to_owned()).collect();
        classify(status, description, &wrong, |name| name.starts_with("card."))
    }

    #[test]
    fn wrong_fields_of_the_form_are_shown_at_the_fields() {
        let fields = Outcome::WrongFields(vec!["card.number".to_owned()]);
        assert_eq!(classify_with(400, "invalid", &["card.number", "amount"]), fields);
        assert_eq!(classify_with(400, "invalid", &["amount"]), Outcome::Refused("invalid amount".to_owned()));
        assert_eq!(classify_with(400, "invalid", &[]), Outcome::Refused("invalid".to_owned()));
    }

    #[test]
    fn an_amount_that_has_changed_is_told_apart() {
        assert_eq!(classify_with(400, "invalid", &["shownAmount"]), Outcome::AmountChanged);
    }

    #[test]
    fn a_brand_that_was_withdrawn_is_told_apart() {
        let text = "not offered paymentBrand".to_owned();
        assert_eq!(classify_with(400, "not offered", &["paymentBrand"]), Outcome::BrandWithdrawn(text));
    }

    #[test]
    fn a_lost_answer_is_not_a_request_that_did_not_get_through() {
        assert_eq!(classify_with(0, "", &[]), Outcome::Unknown);
        for status in [400, 403, 429, 500, 503] {
            assert_eq!(classify_with(status, "", &[]), Outcome::Unsent, "{status}");
        }
        for status in [404, 410] {
            assert_eq!(classify_with(status, "gone", &[]), Outcome::CheckoutGone);
        }
        assert_eq!(classify_with(200, "", &[]), Outcome::Accepted);
    }
}
