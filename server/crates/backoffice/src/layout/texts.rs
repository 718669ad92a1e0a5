//! Texts of the pages, one folder of data files for each language, and the formats of its numbers and dates.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Zoned;
use tillgate_shared::result::ResultCode;

/// Names a file of a language.
macro_rules! text_file {
    ($code:literal, $subject:literal) => {
        include_str!(concat!("../../texts/", $code, "/", $subject, ".toml"))
    };
}

/// Names a folder of `texts` with its files, one for each subject.
macro_rules! language {
    ($code:literal) => {
        (
            $code,
            &[
                text_file!($code, "access"),
                text_file!($code, "administration"),
                text_file!($code, "approval"),
                text_file!($code, "audit"),
                text_file!($code, "common"),
                text_file!($code, "customer"),
                text_file!($code, "delivery"),
                text_file!($code, "exchange"),
                text_file!($code, "home"),
                text_file!($code, "look"),
                text_file!($code, "money"),
                text_file!($code, "money_reports"),
                text_file!($code, "payment"),
                text_file!($code, "settings"),
                text_file!($code, "review"),
                text_file!($code, "system"),
                text_file!($code, "risk"),
                text_file!($code, "review_bulk"),
            ],
        )
    };
}

/// The files of every language. The first one is for browsers that want none of them.
const LANGUAGE_FILES: [(&str, &[&str]); 2] = [language!("en"), language!("de")];

/// All languages, read when the first page is rendered.
static LANGUAGES: LazyLock<Vec<Texts>> =
    LazyLock::new(|| LANGUAGE_FILES.iter().map(|(code, files)| Texts::read(code, files)).collect());

/// Sentences for result codes in languages other than English, the language of their descriptions.
const RESULT_FILES: [(&str, &str); 1] = [("de", include_str!("../../texts/results/de.toml"))];

/// Texts without a language, if no file can be read. A test reads every file.
static NONE: Texts = Texts { code: "en", texts: BTreeMap::new(), results: BTreeMap::new() };

/// The texts of a language.
pub struct Texts {
    /// The language (BCP 47).
    pub code: &'static str,
    /// The texts by `section.key`.
    texts: BTreeMap<String, String>,
    /// Sentences for results by `code.CODE` and `group.NAME`.
    results: BTreeMap<String, String>,
}

/// Reads sections with texts, by `section.key`. A file that is not valid has no texts.
fn read_file(file: &str) -> impl Iterator<Item = (String, String)> {
    let sections = toml::from_str::<BTreeMap<String, BTreeMap<String, String>>>(file).unwrap_or_default();
    sections
        .into_iter()
        .flat_map(|(section, texts)| texts.into_iter().map(move |(key, text)| (format!("{section}.{key}"), text)))
}

impl Texts {
    /// Reads the files of a language.
    fn read(code: &'static str, files: &[&str]) -> Self {
        let results = RESULT_FILES.iter().filter(|(language, _)| *language == code);
        Self {
            code,
            texts: files.iter().flat_map(|file| read_file(file)).collect(),
            results: results.flat_map(|(_, file)| read_file(file)).collect(),
        }
    }

    /// Returns the sentence for a result, or for its group. `None` in English, the language of the descriptions.
    pub fn find_result(&self, result: ResultCode) -> Option<&str> {
        let find = |key: String| self.results.get(&key).map(String::as_str);
        find(format!("code.{}", result.code())).or_else(|| find(format!("group.{}", result.group().as_str())))
    }

    /// Chooses the language that a browser prefers by its `Accept-Language`. The order counts, because browsers send
    /// languages by descending weight.
    pub fn choose(accepted: &str) -> &'static Self {
        let wanted = accepted.split(',').map(|part| part.split([';', '-']).next().unwrap_or_default().trim());
        wanted
            .filter_map(|code| LANGUAGES.iter().find(|texts| texts.code.eq_ignore_ascii_case(code)))
            .next()
            .or_else(|| LANGUAGES.first())
            .unwrap_or(&NONE)
    }

    /// Returns a text by `section.key`. Returns the key if there is none, so that the mistake is visible.
    pub fn get<'a>(&'a self, key: &'a str) -> &'a str {
        self.find(key).unwrap_or(key)
    }

    /// Returns a text by `section.key`, or `None` if there is none.
    pub fn find(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(String::as_str)
    }

    /// Returns a text in which values replace their names in braces.
    pub fn fill(&self, key: &str, values: &[(&str, &str)]) -> String {
        let mut rest = self.get(key);
        let mut filled = String::with_capacity(rest.len());
        // One pass, so that braces in a value are never read as a name.
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let Some((name, end)) = after.split_once('}') else { break };
            if let Some((_, value)) = values.iter().find(|(key, _)| *key == name) {
                filled.push_str(value);
            }
            rest = end;
        }
        filled.push_str(rest);
        filled
    }

    /// Formats a day.
    pub fn date(&self, moment: &Zoned) -> String {
        moment.strftime(self.get("format.date")).to_string()
    }

    /// Formats a day with its time.
    pub fn date_time(&self, moment: &Zoned) -> String {
        moment.strftime(self.get("format.date_time")).to_string()
    }

    /// Formats a day with its time to the second.
    pub fn exact_time(&self, moment: &Zoned) -> String {
        moment.strftime(self.get("format.exact_time")).to_string()
    }

    /// Formats a number with the marks of the language: `1,234` or `1.234`.
    pub fn number(&self, number: u64) -> String {
        self.group_digits(&number.to_string())
    }

    /// Formats a count that ends at a maximum, which stands for all above it: `1,000+`.
    pub fn bounded_count(&self, count: u64, most: u64) -> String {
        if count >= most { format!("{}+", self.number(most)) } else { self.number(count) }
    }

    /// Formats an amount in its plain form (`1234.50`) with the marks of the language.
    pub fn amount(&self, plain: &str) -> String {
        let (sign, digits) = plain.strip_prefix('-').map_or(("", plain), |digits| ("\u{2212}", digits));
        let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
        let mark = if rest.is_empty() { "" } else { self.get("format.decimal") };
        format!("{sign}{}{mark}{rest}", self.group_digits(whole))
    }

    /// Formats an amount in its plain form for a field, in which people type no mark between groups.
    pub fn plain_amount(&self, plain: &str) -> String {
        plain.replace('.', self.get("format.decimal"))
    }

    /// Separates groups of three digits.
    fn group_digits(&self, digits: &str) -> String {
        let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                grouped.push_str(self.get("format.group"));
            }
            grouped.push(digit);
        }
        grouped
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Returns the names in braces of a text.
    fn names(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
    }

    /// Collects the keys that the sources of a folder name in calls of `get` and `fill`.
    fn collect_keys(folder: &Path, keys: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_keys(&path, keys);
            } else {
                let source = std::fs::read_to_string(&path).unwrap();
                for call in ["texts.get(\"", "texts.fill(\"", "text(\""] {
                    keys.extend(source.split(call).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()));
                }
            }
        }
    }

    #[test]
    fn every_language_has_the_same_keys_with_the_same_names() {
        let english = &LANGUAGES[0];
        assert!(english.texts.len() > 50);
        for texts in LANGUAGES.iter() {
            assert_eq!(
                texts.texts.keys().collect::<Vec<_>>(),
                english.texts.keys().collect::<Vec<_>>(),
                "{}",
                texts.code
            );
            for (key, text) in &texts.texts {
                assert_eq!(names(text), names(english.get(key)), "{} {key}", texts.code);
                assert!(!text.trim().is_empty(), "{} {key}", texts.code);
            }
        }
    }

    #[test]
    fn every_text_that_a_page_names_exists() {
        let mut keys = BTreeSet::new();
        collect_keys(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut keys);
        let missing: Vec<_> = keys.iter().filter(|key| key.contains('.') && LANGUAGES[0].find(key).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_language_is_the_first_known_one_that_the_browser_accepts() {
        for (accepted, code) in
            [("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr,EN-gb", "en"), ("", "en"), ("fr;q=1, DE", "de")]
        {
            assert_eq!(Texts::choose(accepted).code, code, "{accepted}");
        }
    }

    #[test]
    fn numbers_have_the_marks_of_the_language() {
        let (english, german) = (Texts::choose("en"), Texts::choose("de"));
        assert_eq!((english.number(1_234_567), german.number(1000)), ("1,234,567".to_owned(), "1.000".to_owned()));
        assert_eq!(english.amount("1234.50"), "1,234.50");
        assert_eq!(german.amount("-1234.50"), "\u{2212}1.234,50");
        assert_eq!(english.amount("100"), "100");
    }

    #[test]
    fn sentences_for_results_have_codes_and_groups_that_exist() {
        let groups: BTreeSet<_> = ResultCode::all().map(|result| result.group().as_str()).collect();
        for key in LANGUAGES.iter().flat_map(|texts| texts.results.keys()) {
            let (section, name) = key.split_once('.').unwrap();
            let is_known = match section {
                "code" => ResultCode::find(name).is_some(),
                section => section == "group" && groups.contains(name),
            };
            assert!(is_known, "{key}");
        }
    }

    #[test]
    fn a_value_is_never_read_as_a_name() {
        let texts = Texts {
            texts: BTreeMap::from([("sample".to_owned(), "{one} and {two}{none}!".to_owned())]),
            ..Texts::read("en", &[])
        };
        assert_eq!(texts.fill("sample", &[("one", "{two}"), ("two", "2")]), "{two} and 2!");
    }
}
