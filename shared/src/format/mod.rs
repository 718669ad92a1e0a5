//! Formats: how a parameter's value must look. One small file a format; [`Format`] is their common table, which the
//! catalogue of parameters refers to.

pub mod amount;
pub mod bic;
pub mod brands;
pub mod card_number;
pub mod characters;
pub mod choice;
pub mod country;
pub mod currency;
pub mod date;
pub mod date_time;
pub mod decimal;
pub mod digits;
pub mod expiry;
pub mod flag;
pub mod iban;
pub mod mask;
pub mod phone;
pub mod place;
pub mod schedule;
pub mod security_code;
pub mod text;
pub mod url;

use std::borrow::Cow;

pub use characters::Class;

/// The format of a parameter. Lengths are in characters, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One line of any characters. Card numbers in it are masked.
    Text {
        /// Fewest characters.
        min: u16,
        /// Most characters.
        max: u16,
    },
    /// Any characters, line breaks included. Card numbers in it are masked.
    Lines {
        /// Fewest characters.
        min: u16,
        /// Most characters.
        max: u16,
    },
    /// One line of any characters that is kept to the letter: a reference that somebody will look for. A card number in
    /// it is refused.
    Verbatim {
        /// Fewest characters.
        min: u16,
        /// Most characters.
        max: u16,
    },
    /// One line of any characters that is cut where it is too long, instead of being refused.
    Cut {
        /// Most characters that are kept.
        max: u16,
    },
    /// Characters of one class.
    Characters {
        /// Which ones.
        class: Class,
        /// Fewest characters.
        min: u16,
        /// Most characters.
        max: u16,
    },
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `true` or `false`. Other spellings ([`flag::parse`]) become one of them before a value is checked.
    Flag,
    /// Up to ten digits, optionally two decimals.
    Amount,
    /// Up to ten digits and exactly two decimals.
    Money,
    /// An ISO 4217 currency in use.
    Currency,
    /// An ISO 3166-1 alpha-2 country, two uppercase letters.
    Country,
    /// A day that exists, `yyyy-MM-dd`.
    Date,
    /// A plus sign or digit, then digits, spaces, dots, parentheses, slashes and hyphens.
    Phone {
        /// Fewest characters in total.
        min: u16,
        /// Most characters in total.
        max: u16,
    },
    /// A difference in minutes, with an optional sign, 1 to 5 characters.
    Offset,
    /// The version of the 3D protocol: 1 or 2, then two more digits, with dots between.
    Version,
    /// An http or https address of 6 to 2048 characters.
    Url,
    /// 12 to 19 digits.
    CardNumber,
    /// 3 to 4 digits.
    SecurityCode,
    /// 01 to 12.
    ExpiryMonth,
    /// Four digits that start with 19 or 20.
    ExpiryYear,
    /// Digits, optionally a fraction.
    Decimal {
        /// Most digits before the dot.
        whole: u8,
        /// Fewest digits of the fraction.
        min: u8,
        /// Most digits of the fraction.
        max: u8,
    },
    /// 0 to 100 with up to two decimals.
    Percent,
    /// A whole number.
    Number {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
    },
    /// `yyyy-MM-dd HH:mm:ss`.
    DateTime {
        /// Whether a letter T may stand for the space.
        t: bool,
    },
    /// A day, or a moment: `yyyy-MM-dd HH:mm:ss`, also with a letter T.
    DateOrTime,
    /// An ISO 3166-1 alpha-2 country in letters of either case.
    CountryAnyCase,
    /// An ISO 3166-1 country, two letters of either case or three digits.
    CountryOrNumber,
    /// A town or a state.
    Place {
        /// Whether there may be digits in it.
        digits: bool,
        /// Most characters.
        max: u16,
    },
    /// An IBAN of up to 31 characters with right check digits.
    Iban,
    /// A BIC of 8 or 11 characters.
    Bic,
    /// An asterisk, or numbers with commas between.
    Schedule {
        /// Digits of each.
        digits: u8,
        /// The smallest.
        min: u16,
        /// The largest.
        max: u16,
    },
    /// A cron expression of five to seven fields.
    Cron,
    /// The reason code of a chargeback, `000.100.2` and two digits.
    Chargeback,
    /// Codes of known brands, with spaces or commas between.
    Brands,
}

impl Format {
    /// Checks a value.
    ///
    /// # Errors
    /// What is wrong, in the words of `parameterErrors`.
    pub fn check(self, value: &str) -> Result<(), Cow<'static, str>> {
        match self {
            Self::Text { min, max } | Self::Verbatim { min, max } => text::check(value, min, max),
            Self::Lines { min, max } => text::check_lines(value, min, max),
            // Longer values are cut before they are used.
            Self::Cut { .. } => text::check(value, 1, u16::MAX),
            Self::Characters { class, min, max } => class.check(value, min, max),
            Self::OneOf(words) => choice::check(value, words),
            Self::Flag => choice::check(value, &["true", "false"]),
            Self::Amount => amount::check(value),
            Self::Money => amount::check_money(value),
            Self::Currency => currency::check(value),
            Self::Country => country::check(value),
            Self::Date => date::check(value),
            Self::Phone { min, max } => phone::check(value, min, max),
            Self::Offset => characters::check_offset(value),
            Self::Version => characters::check_version(value),
            Self::Url => url::check(value),
            Self::CardNumber => card_number::check(value),
            Self::SecurityCode => security_code::check(value),
            Self::ExpiryMonth => expiry::check_month(value),
            Self::ExpiryYear => expiry::check_year(value),
            Self::Decimal { whole, min, max } => decimal::check(value, whole, min, max),
            Self::Percent => decimal::check_percent(value),
            Self::Number { min, max } => decimal::check_number(value, min, max),
            Self::DateTime { t } => date_time::check(value, t),
            Self::DateOrTime => date_time::check_date_or_time(value),
            Self::CountryAnyCase => country::check_any_case(value),
            Self::CountryOrNumber => country::check_or_number(value),
            Self::Place { digits, max } => place::check(value, digits, max),
            Self::Iban => iban::check(value),
            Self::Bic => bic::check(value),
            Self::Schedule { digits, min, max } => schedule::check(value, digits, min..=max),
            Self::Cron => schedule::check_cron(value),
            Self::Chargeback => characters::check_chargeback(value),
            Self::Brands => brands::check(value),
        }
    }

    /// Whether a value is prose, in which somebody may have typed a card number.
    pub fn is_free_text(self) -> bool {
        matches!(self, Self::Text { .. } | Self::Lines { .. } | Self::Cut { .. } | Self::Place { .. })
    }

    /// The shape as a regular expression, for descriptions and for the browser. Where the shape alone does not decide
    /// (dates, currencies, countries), it is what any such value matches.
    pub fn pattern(self) -> Cow<'static, str> {
        match self {
            Self::Text { min, max } | Self::Verbatim { min, max } => Cow::Owned(format!("^.{{{min},{max}}}$")),
            Self::Lines { min, max } => Cow::Owned(format!(r"^[\s\S]{{{min},{max}}}$")),
            Self::Cut { .. } => Cow::Borrowed("^.+$"),
            Self::Characters { class, min, max } => Cow::Owned(class.pattern(min, max)),
            Self::OneOf(words) => Cow::Owned(format!("^({})$", words.join("|"))),
            Self::Flag => Cow::Borrowed("^(true|false)$"),
            Self::Amount => Cow::Borrowed(amount::PATTERN),
            Self::Money => Cow::Borrowed(amount::MONEY_PATTERN),
            Self::Currency => Cow::Borrowed(currency::PATTERN),
            Self::Country => Cow::Borrowed(country::PATTERN),
            Self::Date => Cow::Borrowed(date::PATTERN),
            Self::Phone { min, max } => Cow::Owned(phone::pattern(min, max)),
            Self::Offset => Cow::Borrowed(characters::OFFSET_PATTERN),
            Self::Version => Cow::Borrowed(characters::VERSION_PATTERN),
            Self::Url => Cow::Borrowed(url::PATTERN),
            Self::CardNumber => Cow::Borrowed(card_number::PATTERN),
            Self::SecurityCode => Cow::Borrowed(security_code::PATTERN),
            Self::ExpiryMonth => Cow::Borrowed(expiry::MONTH_PATTERN),
            Self::ExpiryYear => Cow::Borrowed(expiry::YEAR_PATTERN),
            Self::Decimal { whole, min, max } => Cow::Owned(decimal::pattern(whole, min, max)),
            Self::Percent => Cow::Borrowed(decimal::PERCENT_PATTERN),
            Self::Number { max, .. } => Cow::Owned(decimal::number_pattern(max)),
            Self::DateTime { t: false } => Cow::Borrowed(date_time::PATTERN),
            Self::DateTime { t: true } => Cow::Borrowed(date_time::PATTERN_T),
            Self::DateOrTime => Cow::Borrowed(date_time::PATTERN_DATE_OR_TIME),
            Self::CountryAnyCase => Cow::Borrowed(country::ANY_CASE_PATTERN),
            Self::CountryOrNumber => Cow::Borrowed(country::OR_NUMBER_PATTERN),
            Self::Place { digits, max } => Cow::Owned(place::pattern(digits, max)),
            Self::Iban => Cow::Borrowed(iban::PATTERN),
            Self::Bic => Cow::Borrowed(bic::PATTERN),
            Self::Schedule { digits, .. } => Cow::Owned(schedule::pattern(digits)),
            Self::Cron => Cow::Borrowed(schedule::CRON_PATTERN),
            Self::Chargeback => Cow::Borrowed(characters::CHARGEBACK_PATTERN),
            Self::Brands => Cow::Borrowed(brands::PATTERN),
        }
    }
}
