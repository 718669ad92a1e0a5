//! Settings of a page: language, look of the form, dark or not. They are in the query, so every variant has its own
//! address. Only values from closed lists pass, so they can be written into a script.

use serde::Deserialize;

use crate::texts::Lang;

/// Query parameters of all pages, unchecked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewQuery {
    lang: Option<String>,
    style: Option<String>,
    brand_detection: Option<String>,
    dark: Option<String>,
}

/// The checked settings. Unknown values are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Language. `None` keeps the page's default.
    pub lang: Option<Lang>,
    /// Look of the hosted form. `None` keeps the form's default.
    pub style: Option<&'static str>,
    /// True if the form detects the brand from the number.
    pub brand_detection: bool,
    /// True if the page is dark, whatever the device prefers.
    pub dark: bool,
}

impl From<ViewQuery> for View {
    fn from(query: ViewQuery) -> Self {
        let is_on = |value: Option<String>| value.is_some_and(|value| value == "1" || value == "true" || value == "on");
        Self {
            lang: query.lang.as_deref().and_then(Lang::from_code),
            style: query.style.and_then(|style| ["card", "plain", "none"].into_iter().find(|known| *known == style)),
            brand_detection: is_on(query.brand_detection),
            dark: is_on(query.dark),
        }
    }
}

impl View {
    /// Returns the language of the texts: English by default.
    pub fn language(self) -> Lang {
        self.lang.unwrap_or(Lang::En)
    }

    /// Returns the settings as a query with its question mark, or nothing for the defaults.
    pub fn to_query(self) -> String {
        let mut pairs = Vec::new();
        if let Some(lang) = self.lang {
            pairs.push(format!("lang={}", lang.code()));
        }
        if let Some(style) = self.style {
            pairs.push(format!("style={style}"));
        }
        if self.brand_detection {
            pairs.push("brandDetection=1".to_owned());
        }
        if self.dark {
            pairs.push("dark=1".to_owned());
        }
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    /// Returns the script that sets `wpwlOptions` before the loader runs; settings with defaults are left out. It is a
    /// file, because the policy forbids inline scripts.
    pub fn options_script(self) -> String {
        let mut options = serde_json::Map::from_iter([
            ("showAmount".to_owned(), true.into()),
            ("methodLayout".to_owned(), "accordion".into()),
        ]);
        if let Some(lang) = self.lang {
            options.insert("locale".to_owned(), lang.code().into());
        }
        if let Some(style) = self.style {
            options.insert("style".to_owned(), style.into());
        }
        if self.brand_detection {
            options.insert("brandDetection".to_owned(), true.into());
        }
        format!("window.wpwlOptions = {};\n", serde_json::Value::Object(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_view(lang: &str, style: &str) -> View {
        View::from(ViewQuery { lang: Some(lang.into()), style: Some(style.into()), ..ViewQuery::default() })
    }

    #[test]
    fn a_view_survives_its_own_query() {
        assert_eq!(sample_view("de", "plain").to_query(), "?lang=de&style=plain");
        assert_eq!(View::default().to_query(), "");
    }

    #[test]
    fn nothing_foreign_reaches_the_script() {
        let script = sample_view("\"};alert(1)//", "</script>").options_script();
        assert_eq!(script, View::default().options_script());
        assert!(sample_view("de", "none").options_script().contains(r#""locale":"de""#));
        assert!(
            script.contains(r#""methodLayout":"accordion""#) && script.contains(r#""showAmount":true"#),
            "{script}"
        );
    }
}
