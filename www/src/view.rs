//! How a page is to be shown: language, look of the form, dark or not. It travels in the query, so that every variant
//! has an address of its own, and only values from closed lists survive, so that it can be written into a script.

use serde::Deserialize;

use crate::texts::Lang;

/// The query parameters of all pages, as they come.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewQuery {
    lang: Option<String>,
    style: Option<String>,
    brand_detection: Option<String>,
    dark: Option<String>,
}

/// The same, understood. Unknown values count as absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Language; none lets the page's default stand.
    pub lang: Option<Lang>,
    /// Look of the hosted form; none lets the form's default stand.
    pub style: Option<&'static str>,
    /// Whether the form finds the brand from the number.
    pub brand_detection: bool,
    /// Dark whatever the device prefers.
    pub dark: bool,
}

impl From<ViewQuery> for View {
    fn from(query: ViewQuery) -> Self {
        let on = |value: Option<String>| value.is_some_and(|value| value == "1" || value == "true" || value == "on");
        Self {
            lang: query.lang.as_deref().and_then(Lang::find),
            style: query.style.and_then(|style| ["card", "plain", "none"].into_iter().find(|known| *known == style)),
            brand_detection: on(query.brand_detection),
            dark: on(query.dark),
        }
    }
}

impl View {
    /// The language to write in.
    pub fn language(self) -> Lang {
        self.lang.unwrap_or(Lang::En)
    }

    /// The view as a query with its question mark, or nothing for the plain view.
    pub fn query(self) -> String {
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

    /// The script that sets `wpwlOptions` before the loader runs. A file and not an inline script: the policy forbids those.
    pub fn options_script(self) -> String {
        let mut options = serde_json::Map::new();
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

    fn view(lang: &str, style: &str) -> View {
        View::from(ViewQuery { lang: Some(lang.into()), style: Some(style.into()), ..ViewQuery::default() })
    }

    #[test]
    fn a_view_survives_its_own_query() {
        assert_eq!(view("de", "plain").query(), "?lang=de&style=plain");
        assert_eq!(View::default().query(), "");
    }

    #[test]
    fn nothing_foreign_reaches_the_script() {
        let script = view("\"};alert(1)//", "</script>").options_script();
        assert_eq!(script, "window.wpwlOptions = {};\n");
        assert!(view("de", "none").options_script().contains(r#""locale":"de""#));
    }
}
