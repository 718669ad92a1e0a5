//! Labels and messages: English compiled in, another language over it, the merchant's own words over both.

include!(concat!(env!("OUT_DIR"), "/english.rs"));

/// Keys of ours that merchants cannot know, with the key of the contract whose text replaces them.
const RELATED: &[(&str, &str)] = &[("cardNumberEmpty", "cardNumberError"), ("cardBrandError", "cardNumberError")];

/// The texts of one form.
#[derive(Debug, Clone, PartialEq)]
pub struct Texts(Vec<(&'static str, String)>);

impl Texts {
    /// English.
    pub fn english() -> Self {
        let all = LABELS.iter().chain(ERRORS);
        Self(all.map(|(key, text)| (*key, (*text).to_owned())).collect())
    }

    /// The text of a key; empty for a key that English does not have.
    pub fn get(&self, key: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| *known == key);
        found.map_or("", |(_, text)| text)
    }

    /// Sets the text of a key in another language; unknown keys are left out.
    pub fn set(&mut self, key: &str, text: &str) {
        if let Some(entry) = self.0.iter_mut().find(|(known, _)| *known == key) {
            text.clone_into(&mut entry.1);
        }
    }

    /// The merchant's own text for a key, which also stands for what we tell apart more finely.
    pub fn replace(&mut self, key: &str, text: &str) {
        self.set(key, text);
        for (finer, known) in RELATED {
            if *known == key {
                self.set(finer, text);
            }
        }
    }
}

/// A brand's code as a name: `VISA` is Visa, `DINERS_CLUB` is Diners Club.
pub fn name_of_code(code: &str) -> String {
    let mut name = String::new();
    let mut begins = true;
    for letter in code.chars() {
        let letter = if letter == '_' { ' ' } else { letter };
        name.push(if begins { letter } else { letter.to_ascii_lowercase() });
        begins = letter == ' ';
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_makes_a_name() {
        assert_eq!(name_of_code("VISA"), "Visa");
        assert_eq!(name_of_code("DINERS_CLUB"), "Diners Club");
    }

    #[test]
    fn a_merchants_text_covers_the_finer_ones() {
        let mut texts = Texts::english();
        assert_eq!(texts.get("submit"), "Pay now");
        texts.replace("cardNumberError", "Nope");
        assert_eq!(texts.get("cardNumberError"), "Nope");
        assert_eq!(texts.get("cardBrandError"), "Nope");
        texts.replace("nobodyKnowsThis", "x");
        assert_eq!(texts.get("nobodyKnowsThis"), "");
    }

    #[test]
    fn every_related_key_exists() {
        let texts = Texts::english();
        for (finer, known) in RELATED {
            assert!(!texts.get(finer).is_empty() && !texts.get(known).is_empty());
        }
    }
}
