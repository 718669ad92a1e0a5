//! Formats of parameters' values, one small file each. [`Format`] is their common table, to which the parameter
//! catalogue refers.

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
pub mod email;
pub mod expiry;
pub mod flag;
pub mod holder;
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

/// The format of a parameter. Lengths are in characters, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One line of any characters. Card numbers in it are masked.
    Text {
        /// Minimum number of characters.
        min: u16,
        /// Maximum number of characters.
        max: u16,
    },
    /// Any characters, including line breaks. Card numbers in it are masked.
    Lines {
        /// Minimum number of characters.
        min: u16,
        /// Maximum number of characters.
        max: u16,
    },
    /// One line of any characters that is stored unchanged, such as a reference by which payments are found. A card
    /// number in it is refused.
    Verbatim {
        /// Minimum number of characters.
        min: u16,
        /// Maximum number of characters.
        max: u16,
    },
    /// One line of any characters that is cut if it is too long, and not refused.
    Cut {
        /// Maximum number of characters that are kept.
        max: u16,
    },
    /// A mail address. Card numbers in it are masked.
    Email {
        /// Minimum number of characters.
        min: u16,
        /// Maximum number of characters.
        max: u16,
    },
    /// Characters of one class.
    Characters {
        /// The class.
        class: Class,
        /// Minimum number of characters.
        min: u16,
        /// Maximum number of characters.
        max: u16,
    },
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `true` or `false`. Other spellings ([`flag::parse`]) become one of them before a value is checked.
    Flag,
    /// Up to ten digits, optionally two decimals. A value without decimals gets two before it is checked.
    Amount,
    /// An ISO 4217 currency in use.
    Currency,
    /// An ISO 3166-1 alpha-2 country, two uppercase letters.
    Country,
    /// A day that exists, `yyyy-MM-dd`.
    Date,
    /// A plus sign or digit, then digits, spaces, dots, parentheses, slashes and hyphens.
    Phone {
        /// Minimum number of characters in total.
        min: u16,
        /// Maximum number of characters in total.
        max: u16,
    },
    /// A difference in minutes, with an optional sign, 1 to 5 characters.
    Offset,
    /// The version of the 3-D Secure protocol: 1 or 2, then two more digits, separated by dots.
    ThreeDsVersion,
    /// An http or https address of 6 to 2048 characters.
    Url,
    /// An address of 6 to 2048 characters that a browser is sent to: http, https, or the scheme of an app.
    ReturnUrl,
    /// 12 to 19 digits.
    CardNumber,
    /// 3 to 4 digits.
    SecurityCode,
    /// A code of two digits. One digit gets a zero in front before it is checked.
    TwoDigits,
    /// 01 to 12.
    ExpiryMonth,
    /// Four digits that start with 19 or 20.
    ExpiryYear,
    /// Digits, optionally a fraction.
    Decimal {
        /// Maximum number of digits before the dot.
        whole: u8,
        /// Minimum number of digits of the fraction.
        min: u8,
        /// Maximum number of digits of the fraction.
        max: u8,
    },
    /// 0 to 100 with up to two decimals.
    Percent,
    /// A whole number.
    Number {
        /// Minimum.
        min: u32,
        /// Maximum.
        max: u32,
    },
    /// `yyyy-MM-dd HH:mm:ss`.
    DateTime {
        /// True if a letter T may replace the space.
        t: bool,
    },
    /// A day, or a timestamp: `yyyy-MM-dd HH:mm:ss`, also with a letter T.
    DateOrTime,
    /// An ISO 3166-1 alpha-2 country in letters of either case.
    CountryAnyCase,
    /// An ISO 3166-1 country, two letters of either case or three digits.
    CountryOrNumber,
    /// A town or a state.
    Place {
        /// True if it may contain digits.
        digits: bool,
        /// Maximum number of characters.
        max: u16,
    },
    /// An IBAN of up to 31 characters with correct check digits.
    Iban,
    /// A BIC of 8 or 11 characters.
    Bic,
    /// An asterisk, or numbers separated by commas.
    Schedule {
        /// Number of digits of each number. Of two digits a leading zero may be left out.
        digits: u8,
        /// Minimum.
        min: u16,
        /// Maximum.
        max: u16,
    },
    /// A cron expression of five to seven fields.
    Cron,
    /// The reason code of a chargeback, `000.100.2` and two digits.
    Chargeback,
    /// Codes of known brands, separated by spaces or commas.
    Brands,
}

impl Format {
    /// Checks a value.
    ///
    /// # Errors
    /// The message for `parameterErrors`.
    pub fn check_value(self, value: &str) -> Result<(), Cow<'static, str>> {
        match self {
            Self::Text { min, max } | Self::Verbatim { min, max } => text::check_line(value, min, max),
            Self::Lines { min, max } => text::check_lines(value, min, max),
            // Longer values are cut before use.
            Self::Cut { .. } => text::check_line(value, 1, u16::MAX),
            Self::Email { min, max } => email::check(value, min, max),
            Self::Characters { class, min, max } => class.check_value(value, min, max),
            Self::OneOf(words) => choice::check(value, words),
            Self::Flag => choice::check(value, &["true", "false"]),
            Self::Amount => amount::check(value),
            Self::Currency => currency::check(value),
            Self::Country => country::check(value),
            Self::Date => date::check(value),
            Self::Phone { min, max } => phone::check(value, min, max),
            Self::Offset => characters::check_offset(value),
            Self::ThreeDsVersion => characters::check_three_ds_version(value),
            Self::Url => url::check(value),
            Self::ReturnUrl => url::check_return(value),
            Self::CardNumber => card_number::check(value),
            Self::SecurityCode => security_code::check(value),
            Self::TwoDigits => Class::Digits.check_value(value, 1, 2),
            Self::ExpiryMonth => expiry::check_month(value),
            Self::ExpiryYear => expiry::check_year(value),
            Self::Decimal { whole, min, max } => decimal::check(value, whole, min, max),
            Self::Percent => decimal::check_percent(value),
            Self::Number { min, max } => decimal::check_number(value, min, max),
            Self::DateTime { t } => date_time::check(value, t),
            Self::DateOrTime => date_time::check_date_or_time(value),
            Self::CountryAnyCase => country::check_any_case(value),
            Self::CountryOrNumber => country::check_letters_or_number(value),
            Self::Place { digits, max } => place::check(value, digits, max),
            Self::Iban => iban::check(value),
            Self::Bic => bic::check(value),
            Self::Schedule { digits, min, max } => schedule::check_part(value, digits, min..=max),
            Self::Cron => schedule::check_cron(value),
            Self::Chargeback => characters::check_chargeback_code(value),
            Self::Brands => brands::check(value),
        }
    }

    /// Returns true if the value is free text, in which someone may have typed a card number.
    pub fn is_free_text(self) -> bool {
        matches!(
            self,
            Self::Text { .. } | Self::Lines { .. } | Self::Cut { .. } | Self::Email { .. } | Self::Place { .. }
        )
    }

    /// Returns the format as a regular expression, for descriptions and for the browser. If the expression alone does
    /// not decide (dates, currencies, countries), all valid values match it.
    pub fn pattern(self) -> Cow<'static, str> {
        match self {
            Self::Text { min, max } | Self::Verbatim { min, max } => Cow::Owned(format!("^.{{{min},{max}}}$")),
            Self::Lines { min, max } => Cow::Owned(format!(r"^[\s\S]{{{min},{max}}}$")),
            Self::Cut { .. } => Cow::Borrowed("^.+$"),
            Self::Email { .. } => Cow::Borrowed(email::PATTERN),
            Self::Characters { class, min, max } => Cow::Owned(class.pattern(min, max)),
            Self::OneOf(words) => Cow::Owned(format!("^({})$", words.join("|"))),
            Self::Flag => Cow::Borrowed("^(true|false)$"),
            Self::Amount => Cow::Borrowed(amount::PATTERN),
            Self::Currency => Cow::Borrowed(currency::PATTERN),
            Self::Country => Cow::Borrowed(country::PATTERN),
            Self::Date => Cow::Borrowed(date::PATTERN),
            Self::Phone { min, max } => Cow::Owned(phone::pattern(min, max)),
            Self::Offset => Cow::Borrowed(characters::OFFSET_PATTERN),
            Self::ThreeDsVersion => Cow::Borrowed(characters::VERSION_PATTERN),
            Self::Url => Cow::Borrowed(url::PATTERN),
            Self::ReturnUrl => Cow::Borrowed(url::RETURN_PATTERN),
            Self::CardNumber => Cow::Borrowed(card_number::PATTERN),
            Self::SecurityCode => Cow::Borrowed(security_code::PATTERN),
            Self::TwoDigits => Cow::Owned(Class::Digits.pattern(1, 2)),
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
            Self::Schedule { digits, .. } => Cow::Owned(schedule::part_pattern(digits)),
            Self::Cron => Cow::Borrowed(schedule::CRON_PATTERN),
            Self::Chargeback => Cow::Borrowed(characters::CHARGEBACK_PATTERN),
            Self::Brands => Cow::Borrowed(brands::PATTERN),
        }
    }
}
