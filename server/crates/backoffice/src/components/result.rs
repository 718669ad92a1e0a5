//! Result of a request in the language of the page. The descriptions of the codes are texts of the merchants' API, so
//! they stay English and are shown beside the sentence.

use maud::{Markup, html};
use tillgate_shared::result::ResultCode;

use crate::layout::texts::Texts;

/// Returns the description of a result as a text, with its code.
pub fn describe_result(texts: &Texts, result: ResultCode) -> String {
    let description = texts.find_result(result).unwrap_or(result.description());
    format!("{description} ({})", result.code())
}

/// Renders the description of a result without its code. In another language than English, the English original
/// follows, because support teams and documents know the result by it.
pub fn result_text(texts: &Texts, result: ResultCode) -> Markup {
    let original = result.description();
    html! {
        @if let Some(sentence) = texts.find_result(result) {
            (sentence) " " span.soft.small lang="en" { (original) }
        } @else {
            (original)
        }
    }
}

/// Renders the description of a result with its code.
pub fn result_with_code(texts: &Texts, result: ResultCode) -> Markup {
    html! { (result_text(texts, result)) " (" code { (result.code()) } ")" }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_original_follows_a_sentence_and_stands_alone_in_english() {
        let stolen = ResultCode::find("800.100.159").unwrap();
        let [english, german] = ["en", "de"].map(|code| result_text(Texts::choose(code), stolen).into_string());
        assert_eq!(english, "Card is reported stolen");
        let original = "<span class=\"soft small\" lang=\"en\">Card is reported stolen</span>";
        assert_eq!(german, format!("Die Karte ist als gestohlen gemeldet. {original}"));
    }

    #[test]
    fn a_result_without_a_sentence_that_is_true_of_it_is_shown_in_english() {
        let describe = |code: &str| describe_result(Texts::choose("de"), ResultCode::find(code).unwrap());
        assert_eq!(describe("800.100.155"), "Der Betrag übersteigt den Rahmen des Kontos. (800.100.155)");
        for code in ["000.100.211", "000.500.000", "000.400.030", "100.396.201", "800.500.100", "100.400.147"] {
            let result = ResultCode::find(code).unwrap();
            assert_eq!(describe(code), format!("{} ({code})", result.description()), "{code}");
        }
        assert!(ResultCode::all().all(|result| Texts::choose("en").find_result(result).is_none()));
    }
}
