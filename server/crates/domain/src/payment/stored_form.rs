//! Amounts, result codes and texts in stored documents.

use std::borrow::Cow;

use serde::Deserialize;

/// A text of a document. It is copied only if the document has it with escapes.
#[derive(Debug, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Amounts in stored documents: `["92.00","EUR"]`.
pub(crate) mod money {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use tillgate_shared::money::{Amount, Currency};

    use super::Text;

    pub fn serialize<S: Serializer>(amount: &Amount, serializer: S) -> Result<S::Ok, S::Error> {
        (amount.to_string(), amount.currency().code()).serialize(serializer)
    }

    /// Fails if the currency or the amount is not valid.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        let (amount, currency) = <(Text<'_>, Text<'_>)>::deserialize(deserializer)?;
        let currency = Currency::parse(&currency).ok_or_else(|| D::Error::custom("currency"))?;
        Amount::parse(&amount, currency).map_err(|_| D::Error::custom("amount"))
    }
}

/// Optional amounts in stored documents.
pub(crate) mod optional_money {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use tillgate_shared::money::Amount;

    use super::money;

    #[derive(Serialize, Deserialize)]
    struct Stored(#[serde(with = "money")] Amount);

    #[allow(clippy::ref_option)]
    pub fn serialize<S: Serializer>(amount: &Option<Amount>, serializer: S) -> Result<S::Ok, S::Error> {
        amount.map(Stored).serialize(serializer)
    }

    /// Fails if the currency or the amount is not valid.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Amount>, D::Error> {
        Ok(Option::<Stored>::deserialize(deserializer)?.map(|Stored(amount)| amount))
    }
}

/// Result codes in stored documents: the code alone, because its description may change.
pub mod result_code {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use tillgate_shared::result::ResultCode;

    use super::Text;

    /// Writes the code alone.
    pub fn serialize<S: Serializer>(code: &ResultCode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(code.code())
    }

    /// Fails if the code is unknown.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ResultCode, D::Error> {
        let code = Text::deserialize(deserializer)?;
        ResultCode::find(&code).ok_or_else(|| D::Error::custom("result code"))
    }
}

/// An optional result code in stored documents: the code alone.
pub(crate) mod optional_result_code {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use tillgate_shared::result::ResultCode;

    #[allow(clippy::ref_option)]
    pub fn serialize<S: Serializer>(code: &Option<ResultCode>, serializer: S) -> Result<S::Ok, S::Error> {
        code.map(|code| code.code()).serialize(serializer)
    }

    /// Fails if the code is unknown.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ResultCode>, D::Error> {
        let code = Option::<String>::deserialize(deserializer)?;
        code.map(|code| ResultCode::find(&code).ok_or_else(|| D::Error::custom("result code"))).transpose()
    }
}
