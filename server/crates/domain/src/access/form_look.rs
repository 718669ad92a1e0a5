//! The look of the payment form that an entity has chosen: colours, lengths and their limits, the contrast of the
//! button, and the rules of the form's style sheet that follow from them.

mod colour;
mod length;

use serde::{Deserialize, Serialize};
use tillgate_shared::form_options::{THEME, ThemeProperty};

use crate::access::entity::EntitySettings;

pub use colour::Colour;
pub use length::Length;

/// The value that resets a part to the default of the form.
pub const NO_LOOK: &str = "none";

/// Lowest contrast between the button and its text (WCAG 2.2, 1.4.3).
pub const MIN_CONTRAST: f64 = 4.5;

/// A part of the look, which is a setting of an entity and a custom property of the form's style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookPart {
    /// Colour of the button, and of the outline of the focused field.
    Accent,
    /// Colour of the text on the button.
    OnAccent,
    /// Colour of hints, and of the border of invalid fields.
    Error,
    /// Corner radius of fields and buttons.
    Radius,
    /// Height of fields and buttons.
    Height,
    /// Space between fields.
    Gap,
}

impl LookPart {
    /// Every part, in the order of the pages.
    pub const ALL: [Self; 6] = [Self::Accent, Self::OnAccent, Self::Error, Self::Radius, Self::Height, Self::Gap];

    /// Finds a part by the name of its setting.
    pub fn find(setting: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.setting() == setting)
    }

    /// Returns the name of the setting.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Accent => "form-accent",
            Self::OnAccent => "form-on-accent",
            Self::Error => "form-error",
            Self::Radius => "form-radius",
            Self::Height => "form-height",
            Self::Gap => "form-gap",
        }
    }

    /// Returns the name of the custom property, with both hyphens.
    pub fn property(self) -> &'static str {
        match self {
            Self::Accent => "--wpwl-accent",
            Self::OnAccent => "--wpwl-on-accent",
            Self::Error => "--wpwl-error",
            Self::Radius => "--wpwl-radius",
            Self::Height => "--wpwl-height",
            Self::Gap => "--wpwl-gap",
        }
    }

    /// Returns the value of the form's style sheet if nobody has chosen another.
    pub fn default_value(self) -> &'static str {
        let is_own = |property: &&ThemeProperty| property.name == self.property();
        THEME.iter().find(is_own).map_or("", |property| property.default)
    }

    /// Returns true if the part is a colour. The others are lengths.
    pub fn is_colour(self) -> bool {
        matches!(self, Self::Accent | Self::OnAccent | Self::Error)
    }

    /// Parses a value into its usual form: a colour, a length within the limits of the part, or `none`, which gives
    /// `None`.
    ///
    /// # Errors
    /// A message about the value.
    pub fn parse(self, text: &str) -> Result<Option<String>, String> {
        if text == NO_LOOK {
            return Ok(None);
        }
        let limits = match self {
            Self::Accent | Self::OnAccent | Self::Error => return Colour::parse(text).map(|it| Some(it.to_string())),
            Self::Radius => (0, 40),
            // Smaller controls are hard to touch.
            Self::Height => (44, 96),
            Self::Gap => (0, 48),
        };
        Length::parse(text, limits).map(|length| Some(length.to_string()))
    }
}

/// The look of a form. A part that is `None` has the default of the form's style sheet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FormLook {
    /// Value of [`LookPart::Accent`], such as `#6d3a97`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accent: Option<String>,
    /// Value of [`LookPart::OnAccent`], such as `#ffffff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_accent: Option<String>,
    /// Value of [`LookPart::Error`], such as `#b3261e`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Value of [`LookPart::Radius`], such as `4px`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<String>,
    /// Value of [`LookPart::Height`], such as `3rem`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<String>,
    /// Value of [`LookPart::Gap`], such as `1rem`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

impl FormLook {
    /// Resolves the look of an entity: each part from its own and inherited settings, or else from those of its
    /// merchant if it is a channel.
    pub fn resolve(settings: &EntitySettings, merchant: Option<&EntitySettings>) -> Self {
        let mut look = settings.form_look.clone();
        let Some(merchant) = merchant else { return look };
        for part in LookPart::ALL {
            let is_chosen = settings.chosen_defaults.iter().any(|name| name == part.setting());
            if look.get(part).is_none() && !is_chosen {
                look.set(part, merchant.form_look.get(part).map(str::to_owned));
            }
        }
        look
    }

    /// Returns true if every part has its default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the value of a part.
    pub fn get(&self, part: LookPart) -> Option<&str> {
        match part {
            LookPart::Accent => self.accent.as_deref(),
            LookPart::OnAccent => self.on_accent.as_deref(),
            LookPart::Error => self.error.as_deref(),
            LookPart::Radius => self.radius.as_deref(),
            LookPart::Height => self.height.as_deref(),
            LookPart::Gap => self.gap.as_deref(),
        }
    }

    /// Sets the value of a part, in the form that [`LookPart::parse`] returns.
    pub fn set(&mut self, part: LookPart, value: Option<String>) {
        let place = match part {
            LookPart::Accent => &mut self.accent,
            LookPart::OnAccent => &mut self.on_accent,
            LookPart::Error => &mut self.error,
            LookPart::Radius => &mut self.radius,
            LookPart::Height => &mut self.height,
            LookPart::Gap => &mut self.gap,
        };
        *place = value;
    }

    /// Returns the colour of a part, or its default if it has none or one that cannot be read.
    pub fn colour(&self, part: LookPart) -> Colour {
        let own = self.get(part).and_then(|text| Colour::parse(text).ok());
        own.or_else(|| Colour::parse(part.default_value()).ok()).unwrap_or(Colour::BLACK)
    }

    /// Returns the contrast of the text on the button, from 1 to 21. A colour that nobody has chosen counts with its
    /// default.
    pub fn button_contrast(&self) -> f64 {
        self.colour(LookPart::Accent).contrast(self.colour(LookPart::OnAccent))
    }

    /// Checks that the text on the button can be read.
    ///
    /// # Errors
    /// A message with both colours and the measured contrast, if that is below [`MIN_CONTRAST`].
    pub fn check_contrast(&self) -> Result<(), String> {
        let measured = self.button_contrast();
        if measured >= MIN_CONTRAST {
            return Ok(());
        }
        let describe = |part: LookPart| {
            let default = if self.get(part).is_none() { " (the default)" } else { "" };
            format!("{}{default}", self.colour(part))
        };
        // Rounded down, so that no ratio below the limit looks like the limit.
        let shown = (measured * 100.0).floor() / 100.0;
        Err(format!(
            "the text {} on the button {} has a contrast of {shown:.2}:1, and the least is {MIN_CONTRAST}:1",
            describe(LookPart::OnAccent),
            describe(LookPart::Accent)
        ))
    }

    /// Returns the colours of the button and of its text, or `None` if neither is chosen. A text that cannot be read is
    /// replaced with black or white: settings of different levels may not match.
    pub fn button_colours(&self) -> Option<(Colour, Colour)> {
        if self.accent.is_none() && self.on_accent.is_none() {
            return None;
        }
        let (accent, text) = (self.colour(LookPart::Accent), self.colour(LookPart::OnAccent));
        if accent.contrast(text) >= MIN_CONTRAST {
            return Some((accent, text));
        }
        let is_white = accent.contrast(Colour::WHITE) >= accent.contrast(Colour::BLACK);
        Some((accent, if is_white { Colour::WHITE } else { Colour::BLACK }))
    }

    /// Returns a length of the look, or `None` if it has none or one that cannot be read.
    pub fn length(&self, part: LookPart) -> Option<&str> {
        self.get(part).filter(|text| !part.is_colour() && part.parse(text).is_ok())
    }

    /// Returns the rule of the form's style sheet, or an empty text if nothing was chosen. It weighs nothing, so a
    /// rule of the merchant's page wins over it. The colours of the button are always both in it, because the defaults
    /// of light and dark pages are pairs.
    pub fn to_css(&self) -> String {
        let mut properties = Vec::new();
        let mut add = |part: LookPart, value: String| properties.push(format!("{}:{value}", part.property()));
        if let Some((accent, text)) = self.button_colours() {
            add(LookPart::Accent, accent.to_string());
            add(LookPart::OnAccent, text.to_string());
        }
        if self.error.is_some() {
            add(LookPart::Error, self.colour(LookPart::Error).to_string());
        }
        for part in [LookPart::Radius, LookPart::Height, LookPart::Gap] {
            match self.length(part) {
                // A page may have a small rem, and the control has to stay large enough to touch.
                Some(height) if part == LookPart::Height => add(part, format!("max(44px,{height})")),
                Some(length) => add(part, length.to_owned()),
                None => {}
            }
        }
        if properties.is_empty() {
            String::new()
        } else {
            format!(":where(.wpwl-container){{{}}}", properties.join(";"))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Creates a look from parts with their values.
    fn look_of(parts: &[(LookPart, &str)]) -> FormLook {
        let mut look = FormLook::default();
        parts.iter().for_each(|(part, value)| look.set(*part, part.parse(value).unwrap()));
        look
    }

    #[test]
    fn every_part_is_a_property_of_the_forms_style_sheet_with_its_default() {
        assert_eq!(LookPart::ALL.len(), THEME.len());
        for (part, property) in LookPart::ALL.into_iter().map(|part| {
            let property = THEME.iter().find(|property| property.name == part.property());
            (part, property.unwrap())
        }) {
            assert_eq!(format!("--wpwl{}", part.setting().trim_start_matches("form")), property.name);
            assert!(part.parse(property.default).is_ok(), "{} {}", property.name, property.default);
            assert_eq!(part.default_value(), property.default);
        }
    }

    #[test]
    fn a_value_outside_of_the_limits_is_refused_and_none_resets() {
        for (part, text, expected) in [
            (LookPart::Accent, "#6D3A97", "#6d3a97"),
            (LookPart::OnAccent, "#fff", "#ffffff"),
            (LookPart::Height, "44px", "44px"),
            (LookPart::Height, "2.75rem", "2.75rem"),
            (LookPart::Radius, "0", "0px"),
            (LookPart::Gap, "01.50rem", "1.5rem"),
        ] {
            assert_eq!(part.parse(text).unwrap().as_deref(), Some(expected), "{text}");
            assert_eq!(part.parse(NO_LOOK), Ok(None));
        }
        for (part, text) in [
            (LookPart::Accent, "red"),
            (LookPart::Accent, "#6d3a9"),
            (LookPart::Accent, "#fff;}*{display:none"),
            (LookPart::Accent, ""),
            (LookPart::Error, "4px"),
            (LookPart::Height, "43.999px"),
            (LookPart::Height, "2.7rem"),
            (LookPart::Height, "97px"),
            (LookPart::Radius, "-1px"),
            (LookPart::Radius, "41px"),
            (LookPart::Radius, "50%"),
            (LookPart::Gap, "1em"),
            (LookPart::Gap, "1px;color:red"),
            (LookPart::Gap, "#fff"),
        ] {
            assert!(part.parse(text).is_err_and(|message| !message.is_empty()), "{text}");
        }
    }

    #[test]
    fn a_button_that_cannot_be_read_is_refused_with_the_measured_contrast() {
        let grey = look_of(&[(LookPart::Accent, "#777")]);
        let message = grey.check_contrast().unwrap_err();
        assert!(message.contains("4.47:1") && message.contains("#ffffff (the default)"), "{message}");
        assert_eq!(look_of(&[(LookPart::Accent, "#767676")]).check_contrast(), Ok(()));
        assert_eq!(look_of(&[(LookPart::Accent, "#ffc24b"), (LookPart::OnAccent, "#241a00")]).check_contrast(), Ok(()));
        assert_eq!(FormLook::default().check_contrast(), Ok(()));
        assert!(look_of(&[(LookPart::OnAccent, "#2456d6")]).check_contrast().unwrap_err().contains("1.00:1"));
    }

    #[test]
    fn the_rule_weighs_nothing_and_its_button_can_always_be_read() {
        assert_eq!(FormLook::default().to_css(), "");
        let look = look_of(&[(LookPart::Accent, "#6d3a97"), (LookPart::Height, "4rem"), (LookPart::Radius, "0")]);
        let rule = ":where(.wpwl-container){--wpwl-accent:#6d3a97;--wpwl-on-accent:#ffffff;--wpwl-radius:0px;\
                    --wpwl-height:max(44px,4rem)}";
        assert_eq!(look.to_css(), rule);
        for accent in ["#000", "#fff", "#777", "#808080", "#ff0", "#00f"] {
            for text in ["#777", "#fff", "#123456"] {
                let look = look_of(&[(LookPart::Accent, accent), (LookPart::OnAccent, text)]);
                let (accent, text) = look.button_colours().unwrap();
                assert!(accent.contrast(text) >= MIN_CONTRAST, "{accent} {text}");
            }
        }
    }

    #[test]
    fn a_stored_value_that_cannot_be_read_never_reaches_the_rule() {
        let bad = "red}*{display:none".to_owned();
        let look = FormLook {
            accent: Some(bad.clone()),
            error: Some(bad.clone()),
            radius: Some(bad.clone()),
            height: Some(bad.clone()),
            gap: Some(bad),
            ..FormLook::default()
        };
        assert!(!look.to_css().contains("display"), "{}", look.to_css());
    }

    #[test]
    fn a_channel_has_the_parts_of_its_merchant_that_it_has_not_chosen() {
        let merchant = EntitySettings {
            form_look: look_of(&[(LookPart::Accent, "#6d3a97"), (LookPart::Gap, "0"), (LookPart::Radius, "4px")]),
            ..EntitySettings::default()
        };
        let channel = EntitySettings {
            form_look: look_of(&[(LookPart::Radius, "8px")]),
            chosen_defaults: vec!["form-gap".to_owned()],
            ..EntitySettings::default()
        };
        let expected = look_of(&[(LookPart::Accent, "#6d3a97"), (LookPart::Radius, "8px")]);
        assert_eq!(FormLook::resolve(&channel, Some(&merchant)), expected);
        assert_eq!(FormLook::resolve(&channel, None), channel.form_look);
    }
}
