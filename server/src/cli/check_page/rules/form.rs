//! Rules for the places of the form, their brands, and the options.

use tillgate_risk::suggest_among;
use tillgate_shared::brand::Brand;

use crate::cli::check_page::document::Element;
use crate::cli::check_page::finding::FindingKind::{BrandUnknown, FormAttribute, FormElement, FormMissing, FormNested};
use crate::cli::check_page::finding::Findings;
use crate::cli::check_page::page::ServedPage;

/// Class of a place for the form.
const CLASS: &str = "paymentWidgets";
const FORM_LINE: &str =
    "<form class=\"paymentWidgets\" action=\"https://shop.example/result\" data-brands=\"VISA MASTER\"></form>";

/// Checks the places for the form, their brands, and the place of the options.
pub(super) fn check_forms(page: &ServedPage, findings: &mut Findings) {
    let has_class = |element: &&Element| element.classes().any(|class| class == CLASS);
    let places: Vec<&Element> = page.document.elements.iter().filter(has_class).collect();
    let is_added_by_script = page.has_script_text(CLASS);
    if !places.iter().any(|place| place.name == "form") && !is_added_by_script {
        report_missing_form(page, &places, findings);
    }
    for place in places.iter().filter(|place| place.name == "form") {
        if place.is_nested {
            let message =
                "The place of the form is inside another form, so browsers leave it out. Close that form first.";
            findings.add(FormNested, message, format!("</form>{FORM_LINE}"));
        }
        check_brands(place, findings);
    }
}

fn report_missing_form(page: &ServedPage, places: &[&Element], findings: &mut Findings) {
    if let Some(place) = places.first() {
        let message = format!("<{}> has the class {CLASS}. Only a <form> becomes the payment form.", place.name);
        findings.add(FormElement, message, FORM_LINE);
        return;
    }
    let classes = page.document.elements("form").flat_map(Element::classes);
    let similar = classes.filter(|class| suggest_among(class, [CLASS].into_iter()).is_some()).last();
    let message = match similar {
        Some(class) => {
            format!("The page has no form with the class {CLASS}. Its class {class} is written differently.")
        }
        None => format!("The page has no form with the class {CLASS}."),
    };
    findings.add(FormMissing, message, FORM_LINE);
}

/// Maximum number of brands that are looked at. There are fewer, and a hostile page may name millions.
const MAX_BRANDS: usize = 200;

/// Checks the attribute with the brands, and each brand. A form without brands takes every card.
fn check_brands(place: &Element, findings: &mut Findings) {
    let Some(brands) = place.attribute("data-brands") else {
        let similar =
            |name: &&str| ["data-brand", "brands", "brand", "databrands", "data-paymentbrands"].contains(name);
        if let Some(name) = place.attribute_names().find(similar) {
            let value = place.attribute(name).unwrap_or_default();
            let message = format!("The brands are in the attribute {name}, which the form does not read.");
            findings.add(FormAttribute, message, format!("<form class=\"{CLASS}\" data-brands=\"{value}\"></form>"));
        }
        return;
    };
    let separators = |c: char| c == ',' || c.is_whitespace();
    let names = brands.split(separators).filter(|name| !name.is_empty()).take(MAX_BRANDS).collect::<Vec<_>>();
    for name in names.iter().filter(|name| Brand::find(name).is_none()) {
        let nearest = suggest_among(name, Brand::all().iter().map(|brand| brand.code));
        let advice = nearest.map_or_else(String::new, |nearest| format!(" The nearest one is {nearest}."));
        let others = names.iter().filter_map(|other| if other == name { nearest } else { Some(*other) });
        let line = format!("data-brands=\"{}\"", others.collect::<Vec<_>>().join(" "));
        findings.add(BrandUnknown, format!("data-brands names {name}, and there is no such brand.{advice}"), line);
    }
}

/// Returns true if a script assigns or declares `wpwlOptions`.
pub(super) fn sets_options(text: &str) -> bool {
    text.match_indices("wpwlOptions").any(|(at, name)| {
        let is_own_word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'));
        let rest = text[at + name.len()..].trim_start();
        is_own_word && rest.starts_with('=') && !rest.starts_with("==")
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cli::check_page::page::tests::{check, kinds, page_with};

    #[test]
    fn an_unknown_brand_is_named_with_the_nearest_one() {
        let findings = check(&[], &page_with("VISA MASTER", "VISA, MASTERCRAD paypal"));
        let lines: Vec<(&str, &str)> = findings.iter().map(|it| (it.message.as_str(), it.line.as_str())).collect();
        assert_eq!(
            lines,
            [
                ("data-brands names MASTERCRAD, and there is no such brand.", "data-brands=\"VISA paypal\""),
                (
                    "data-brands names paypal, and there is no such brand. The nearest one is PAYPAL.",
                    "data-brands=\"VISA MASTERCRAD PAYPAL\""
                ),
            ]
        );
        let finding = check(&[], &page_with("VISA MASTER", "VISAS")).remove(0);
        assert!(finding.message.ends_with("The nearest one is VISA."), "{}", finding.message);
    }

    #[test]
    fn each_fault_of_the_place_is_found() {
        for (part, replacement, expected) in [
            ("class=\"paymentWidgets\"", "class=\"paymentwidgets\"", "form-missing"),
            ("class=\"paymentWidgets\"", "class=\"pay\"", "form-missing"),
            ("<form ", "<div ", "form-element"),
            ("<form ", "<form id=\"order\"><form ", "form-nested"),
            ("data-brands", "data-brand", "form-attribute"),
        ] {
            assert_eq!(kinds(&[], &page_with(part, replacement)), [expected], "{replacement}");
        }
        let by_script = "<script>place.className = 'paymentWidgets';</script><p ";
        assert_eq!(kinds(&[], &page_with("<form ", by_script).replace("class=\"paymentWidgets\"", "")), [""; 0]);
        assert_eq!(kinds(&[], &page_with(" data-brands=\"VISA MASTER\"", "")), [""; 0], "every card");
    }

    #[test]
    fn options_may_be_set_at_any_place_and_are_told_from_other_words() {
        let late = page_with("</body>", "<script>window.wpwlOptions={};</script></body>");
        assert_eq!(kinds(&[], &late), [""; 0], "the form reads them once the page is parsed");
        assert!(sets_options("let wpwlOptions\n = {}"));
        assert!(!sets_options("if (wpwlOptions == null || mywpwlOptions) stop();"));
    }
}
