//! Values at the boundaries of a format: just valid, and just invalid.

use crate::format::{Class, Format};

/// Values of one format.
pub(super) struct Samples {
    /// The shortest and the longest value, and one of each kind.
    pub(super) good: Vec<String>,
    /// A value that is too short, one that is too long, and wrong values of each kind.
    pub(super) bad: Vec<String>,
}

/// Returns samples of a format. The match is exhaustive, so a new format needs samples.
#[expect(clippy::too_many_lines, reason = "a table")]
pub(super) fn format_samples(format: Format) -> Samples {
    match format {
        Format::Text { min, max } | Format::Verbatim { min, max } => {
            let mut samples = length_samples(min, max, &["x", "é", "漢", "😀", " ", "'"]);
            samples.bad.extend(invalid_texts(min, max, &["\0", "\t", "\n", "\r", "\u{1b}", "\u{7f}", "\u{85}"]));
            samples
        }
        Format::Lines { min, max } => {
            let mut samples = length_samples(min, max, &["x", "é", "漢", "😀", "\n", "\t"]);
            samples.bad.extend(invalid_texts(min, max, &["\0", "\u{1b}", "\u{7f}", "\u{85}"]));
            samples
        }
        Format::Cut { max } => Samples {
            good: [1, max, max + 1, 10 * max].map(|length| "é".repeat(length.into())).to_vec(),
            bad: owned_texts(&["", "a\0", "a\nb"]),
        },
        Format::Email { min, max } => {
            let address = |length: u16| format!("{}@ab.de", "é".repeat(usize::from(length) - 6));
            Samples {
                good: vec!["a@b.de".to_owned(), address(max), "Jo <jo@shop.example>".to_owned()],
                bad: owned_texts(&["", "shop.example", "a@b.de, c@d.de", "jo doe@shop.example", "jo@shop.example\0"])
                    .into_iter()
                    .chain([address(max + 1), "a@b.c".chars().take(usize::from(min) - 1).collect()])
                    .collect(),
            }
        }
        Format::Characters { class, min, max } => class_samples(class, min, max),
        Format::OneOf(words) => {
            let mut bad = owned_texts(&["", " ", "?"]);
            bad.extend(words.iter().flat_map(|word| [word.to_lowercase(), format!("{word} "), format!("{word}X")]));
            bad.retain(|word| !words.contains(&word.as_str()));
            Samples { good: owned_texts(words), bad }
        }
        Format::Flag => new_samples(&["true", "false"], &["", "on", "1", "TRUE", "yes", "true "]),
        Format::Amount => new_samples(
            &["0", "1", "9999999999", "0.00", "12.50", "9999999999.99"],
            &[
                "",
                "10000000000",
                "10000000000.00",
                "1.0",
                "1.000",
                ".50",
                "1.",
                "1,00",
                "-1.00",
                "+1",
                "1e3",
                " 1",
                "x",
            ],
        ),
        Format::Currency => new_samples(&["EUR", "JPY", "KWD"], &["", "EU", "EURO", "eur", "XXX", "HRK", "E1R", "€"]),
        Format::Country => new_samples(&["DE", "XK"], &["", "D", "DEU", "de", "ZZ", "1A", "日本"]),
        Format::Date => new_samples(
            &["2026-11-21", "2024-02-29"],
            &["", "2026-11-2", "2026-11-211", "2026-02-29", "2026-13-01", "21.11.2026", "2026/11/21", "x"],
        ),
        Format::Phone { min, max } => {
            let number = |length: u16| format!("+{}", "1".repeat(usize::from(length) - 1));
            let wrong = ["-", "(", " ", "x"].map(|start| format!("{start}{}", &number(max)[1..]));
            let mut bad = vec![String::new(), number(min - 1), number(max + 1), number(max).replace("11", "1+")];
            bad.extend(wrong);
            Samples {
                good: vec![number(min), number(max), format!("0{}", &"1 .()/-1111"[..usize::from(min) - 1])],
                bad,
            }
        }
        Format::Offset => {
            new_samples(&["0", "-60", "+60", "-9999", "12345"], &["", "-", "+", "123456", "-12345", "1.5", "x"])
        }
        Format::ThreeDsVersion => {
            new_samples(&["1.0.2", "2.2.0"], &["", "2.2", "3.0.0", "2.10.0", "2.2.0.0", "2-2-0", "x.2.0"])
        }
        Format::Url => {
            let address = |length: usize| format!("https://{}", "a".repeat(length - 8));
            Samples {
                good: vec!["http://a".to_owned(), address(9), address(2048)],
                bad: vec![
                    String::new(),
                    "https:".to_owned(),
                    address(2049),
                    "ftp://shop.example".to_owned(),
                    "https://a\0".to_owned(),
                    "https://a b".to_owned(),
                ],
            }
        }
        Format::ReturnUrl => {
            let address = |length: usize| format!("my.app://{}", "a".repeat(length - 9));
            Samples {
                good: vec!["http://a".to_owned(), "a.b:/c".to_owned(), address(10), address(2048)],
                bad: [address(2049)]
                    .into_iter()
                    .chain(owned_texts(&["", "a:b", "my.app:", "javascript:alert(1)", "my.app://a\0", "my.app://a b"]))
                    .collect(),
            }
        }
        Format::TwoDigits => new_samples(&["5", "05", "12"], &["", "005", "x", "0x", "-1", "٣"]),
        Format::CardNumber => {
            let mut samples = class_samples(Class::Digits, 12, 19);
            samples.bad.push("4111 1111 1111 1111".to_owned());
            samples
        }
        Format::SecurityCode => class_samples(Class::Digits, 3, 4),
        Format::ExpiryMonth => new_samples(&["01", "09", "10", "12"], &["", "0", "1", "00", "13", "012", "x1", " 1"]),
        Format::ExpiryYear => {
            new_samples(&["1900", "2034", "2099"], &["", "34", "203", "20340", "1899", "2100", "x034", "2O34"])
        }
        Format::Decimal { whole, min, max } => {
            let digits = |count: u8| "9".repeat(count.into());
            let fraction = |count: u8| format!("0.{}", digits(count));
            Samples {
                good: vec!["0".to_owned(), digits(whole), fraction(min), fraction(max)],
                bad: owned_texts(&["", ".5", "1.", "1,00", "-1", "+1", "1.0.0", "x", "٣"])
                    .into_iter()
                    .chain([digits(whole + 1), fraction(max + 1), format!("{}.{}", digits(whole + 1), digits(max))])
                    .collect(),
            }
        }
        Format::Percent => new_samples(
            &["0", "7.5", "19.00", "100.00"],
            &["", "100.01", "101", "1.234", "1.", ".5", "-1", "19%", "1,5"],
        ),
        Format::Number { min, max } => {
            let mut samples = new_samples(&[], &["", "-1", "+1", "1.0", "x", "٣"]);
            samples.good.extend([min, max].map(|number| number.to_string()));
            samples.bad.push((u64::from(max) + 1).to_string());
            samples.bad.extend(min.checked_sub(1).map(|number| number.to_string()));
            samples
        }
        Format::DateOrTime => new_samples(
            &["2026-11-21", "2026-11-21 23:59:59", "2024-02-29T00:00:00"],
            &["", "2026-02-29", "2026-02-29 10:00:00", "2026-11-21 24:00:00", "2026-11-21 ", "2026-11-21T10:00", "x"],
        ),
        Format::DateTime { t } => {
            let mut samples = new_samples(
                &["2026-11-21 00:00:00", "2024-02-29 23:59:59"],
                &["", "2026-11-21", "2026-11-21 24:00:00", "2026-02-29 10:00:00", "2026-11-21 10:00", "x"],
            );
            if t { &mut samples.good } else { &mut samples.bad }.push("2026-11-21T10:00:00".to_owned());
            samples
        }
        Format::CountryAnyCase => new_samples(&["DE", "de", "XK"], &["", "D", "DEU", "ZZ", "zz", "1A", "276", "日本"]),
        Format::CountryOrNumber => {
            new_samples(&["DE", "de", "276"], &["", "D", "DEU", "ZZ", "27", "2760", "27A", "日本"])
        }
        Format::Place { digits, max } => {
            let mut samples = length_samples(1, max, &["x", "é", "漢"]);
            samples.bad.extend(invalid_texts(1, max, &["\0", "\n", "\u{7f}", "_", ";"]));
            if digits { &mut samples.good } else { &mut samples.bad }.push("x13".to_owned());
            samples
        }
        Format::Iban => new_samples(
            &["DE89370400440532013000", "gb29nwbk60161331926819", "NO9386011117947", "MT84MALT011000012345MTLCAST001S"],
            &[
                "",
                "DE88370400440532013000",
                "DE89 3704 0044 0532 0130 00",
                "DE8937040044",
                "RU0304452522540817810538091310419",
            ],
        ),
        Format::Bic => new_samples(
            &["DEUTDEFF", "deutdeff", "DEUTDEFF500"],
            &["", "DEUTDEF", "DEUTDEFF5", "DEUTDEFF50", "DEUTDEFF5000", "DEUTZZFF", "DEUT-EFF"],
        ),
        Format::Schedule { digits, min, max } => {
            let width = usize::from(digits);
            let number = |number: u16| format!("{number:0width$}");
            let mut bad = owned_texts(&["", "**", "x", "1-2", "*/5", "1;2"]);
            bad.push("1".repeat(width.max(2) + 1));
            bad.extend((width > 2).then(|| "1".repeat(width - 1)));
            bad.extend([format!("{},", number(max)), format!("{}, {0}", number(max)), number(max + 1)]);
            bad.extend(min.checked_sub(1).map(number));
            let list = format!("{},{}", number(min), number(max));
            let short = if width > 2 { number(min) } else { min.to_string() };
            Samples { good: vec!["*".to_owned(), number(min), number(max), short, list], bad }
        }
        Format::Cron => new_samples(
            &["0 0 1 * *", "0 0 6 15 * ?", "0 0 12 ? * MON-FRI 2027"],
            &["", "daily", "0 0 1 *", "0 0 1 * * * * *", " 0 0 1 * *", "0 0 1 * ;"],
        ),
        Format::Brands => new_samples(
            &["VISA", "VISA MASTER", "VISA,MASTER", "APPLEPAY, VISA"],
            &["", " ", ",", "visa", "VISA MASTERS", "VISA;MASTER", &"VISA ".repeat(1000)],
        ),
        Format::Chargeback => new_samples(
            &["000.100.200", "000.100.299"],
            &["", "000.100.100", "000.100.20", "000.100.2000", "000.100.2x0", "000-100-200"],
        ),
    }
}

fn owned_texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn new_samples(good: &[&str], bad: &[&str]) -> Samples {
    Samples { good: owned_texts(good), bad: owned_texts(bad) }
}

/// Returns texts of each of these characters with valid lengths, and with one more or less.
fn length_samples(min: u16, max: u16, characters: &[&str]) -> Samples {
    let repeat_each = |length: u16| characters.iter().map(move |character| character.repeat(length.into()));
    let mut samples =
        Samples { good: repeat_each(min).chain(repeat_each(max)).collect(), bad: repeat_each(max + 1).collect() };
    if min > 0 {
        samples.bad.extend(repeat_each(min - 1));
    }
    samples
}

/// Returns texts of the right length with one wrong character.
fn invalid_texts(min: u16, max: u16, characters: &[&str]) -> Vec<String> {
    let length = usize::from(min.max(1).min(max));
    characters.iter().map(|character| format!("{}{character}", "x".repeat(length - 1))).collect()
}

/// Returns texts of each kind of character in the class, and texts that end with a character of another class.
fn class_samples(class: Class, min: u16, max: u16) -> Samples {
    let (good, bad): (&[&str], &[&str]) = match class {
        Class::Digits => (&["0", "9"], &["a", "-", " ", "٣"]),
        Class::Uppercase => (&["A", "Z"], &["a", "1", " ", "Ä"]),
        Class::Alphanumeric => (&["a", "Z", "0"], &["_", "-", " ", "ä"]),
        Class::Word => (&["a", "Z", "0", "_"], &["-", ".", " ", "ä"]),
        Class::Tag => (&["a", "Z", "0", "-"], &["_", ".", " ", "ä"]),
        Class::Letters => (&["a", "Z"], &["1", "-", " ", "ä"]),
        Class::Base64 => (&["a", "Z", "0", "+", "/", "="], &["-", "_", " ", "ä"]),
        Class::Dial => (&["a", "Z", "0", "+", "-", "."], &["_", "(", " ", "ä"]),
        Class::Postcode => (&["a", "Z", "0", "-"], &["_", ".", "\t", "ä"]),
        Class::Ascii => (&["a", "0", "{", "~", "\n"], &["\0", "\u{7f}", "ä"]),
        Class::LowerHex => (&["0", "9", "a", "f"], &["A", "g", "-", " "]),
    };
    let mut samples = length_samples(min, max, good);
    let start = good[0].repeat(usize::from(min).saturating_sub(1));
    samples.bad.extend(bad.iter().map(|wrong| format!("{start}{wrong}")));
    samples
}
