//! The values that columns and parameters have: nothing, integers, real numbers, texts and bytes.

use super::{Error, ErrorKind, Result};

/// A value that is borrowed from a row or from a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueRef<'a> {
    /// No value.
    Null,
    /// An integer of 64 bits. A truth value is 0 or 1.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A text. It is in UTF-8, unless somebody else has written it.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

/// A value that is kept.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedValue {
    /// No value.
    Null,
    /// An integer of 64 bits.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl<'a> ValueRef<'a> {
    /// Returns the text.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] if the value is none, or not in UTF-8.
    pub fn as_str(self) -> Result<&'a str> {
        match self {
            Self::Text(text) => {
                std::str::from_utf8(text).map_err(|_| Error::new(ErrorKind::Unreadable, "a text that is not in UTF-8"))
            }
            other => Err(other.mismatch("text")),
        }
    }

    /// Returns the bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] if the value has none.
    pub fn as_blob(self) -> Result<&'a [u8]> {
        match self {
            Self::Blob(bytes) => Ok(bytes),
            other => Err(other.mismatch("bytes")),
        }
    }

    /// Returns the integer.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] if the value is none.
    pub fn as_integer(self) -> Result<i64> {
        match self {
            Self::Integer(number) => Ok(number),
            other => Err(other.mismatch("integer")),
        }
    }

    /// Makes the failure of a value that is read as another type. The text never contains the value, which may be
    /// secret.
    fn mismatch(self, expected: &str) -> Error {
        let found = match self {
            Self::Null => "nothing",
            Self::Integer(_) => "an integer",
            Self::Real(_) => "a real number",
            Self::Text(_) => "a text",
            Self::Blob(_) => "bytes",
        };
        Error::new(ErrorKind::Unreadable, format!("{found} where {expected} was expected"))
    }
}

/// A type that can be a parameter.
pub trait ToValue {
    /// Returns the value.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] if it is out of the range of a column.
    fn to_value(&self) -> Result<ValueRef<'_>>;
}

/// A type that a column can be read as.
pub trait FromValue: Sized {
    /// Reads a value.
    ///
    /// # Errors
    /// [`ErrorKind::Unreadable`] if it is not of this type, or out of its range.
    fn from_value(value: ValueRef<'_>) -> Result<Self>;
}

/// Integers that fit into a column whatever their value.
macro_rules! small_integers {
    ($($kind:ty),*) => {$(
        impl ToValue for $kind {
            fn to_value(&self) -> Result<ValueRef<'_>> {
                Ok(ValueRef::Integer(i64::from(*self)))
            }
        }
        impl FromValue for $kind {
            fn from_value(value: ValueRef<'_>) -> Result<Self> {
                let number = value.as_integer()?;
                Self::try_from(number).map_err(|_| out_of_range(stringify!($kind)))
            }
        }
    )*};
}

/// Integers of which a column holds only some.
macro_rules! large_integers {
    ($($kind:ty),*) => {$(
        impl ToValue for $kind {
            fn to_value(&self) -> Result<ValueRef<'_>> {
                i64::try_from(*self).map(ValueRef::Integer).map_err(|_| out_of_range("column"))
            }
        }
        impl FromValue for $kind {
            fn from_value(value: ValueRef<'_>) -> Result<Self> {
                Self::try_from(value.as_integer()?).map_err(|_| out_of_range(stringify!($kind)))
            }
        }
    )*};
}

small_integers!(i64, i32, u32, u16, u8);
large_integers!(u64, usize);

fn out_of_range(kind: &str) -> Error {
    Error::new(ErrorKind::Unreadable, format!("an integer out of the range of {kind}"))
}

impl ToValue for bool {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Integer(i64::from(*self)))
    }
}

impl FromValue for bool {
    fn from_value(value: ValueRef<'_>) -> Result<Self> {
        Ok(value.as_integer()? != 0)
    }
}

impl ToValue for f64 {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Real(*self))
    }
}

impl FromValue for f64 {
    fn from_value(value: ValueRef<'_>) -> Result<Self> {
        match value {
            ValueRef::Real(number) => Ok(number),
            #[expect(
                clippy::cast_precision_loss,
                reason = "a sum that has no fraction is an integer in some databases"
            )]
            ValueRef::Integer(number) => Ok(number as Self),
            other => Err(other.mismatch("real number")),
        }
    }
}

impl ToValue for str {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Text(self.as_bytes()))
    }
}

impl ToValue for String {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Text(self.as_bytes()))
    }
}

impl FromValue for String {
    fn from_value(value: ValueRef<'_>) -> Result<Self> {
        value.as_str().map(str::to_owned)
    }
}

impl ToValue for [u8] {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Blob(self))
    }
}

impl ToValue for Vec<u8> {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Blob(self))
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: ValueRef<'_>) -> Result<Self> {
        value.as_blob().map(<[u8]>::to_vec)
    }
}

impl<const N: usize> ToValue for [u8; N] {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        Ok(ValueRef::Blob(self))
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: ValueRef<'_>) -> Result<Self> {
        let bytes = value.as_blob()?;
        bytes
            .try_into()
            .map_err(|_| Error::new(ErrorKind::Unreadable, format!("{} bytes where {N} were expected", bytes.len())))
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        self.as_ref().map_or(Ok(ValueRef::Null), ToValue::to_value)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: ValueRef<'_>) -> Result<Self> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        (**self).to_value()
    }
}

impl ToValue for OwnedValue {
    fn to_value(&self) -> Result<ValueRef<'_>> {
        Ok(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        })
    }
}

impl FromValue for OwnedValue {
    fn from_value(value: ValueRef<'_>) -> Result<Self> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(_) => Self::Text(value.as_str()?.to_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_that_does_not_fit_is_an_error_and_never_another_number() {
        assert!(u64::MAX.to_value().is_err());
        assert_eq!(i64::MAX.unsigned_abs().to_value().unwrap(), ValueRef::Integer(i64::MAX));
        assert!(u64::from_value(ValueRef::Integer(-1)).is_err());
        assert!(u8::from_value(ValueRef::Integer(256)).is_err());
        assert_eq!(u8::from_value(ValueRef::Integer(255)).unwrap(), 255);
    }

    #[test]
    fn a_value_of_another_type_is_an_error_that_does_not_show_it() {
        let error = i64::from_value(ValueRef::Text(b"4111111111111111")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreadable);
        assert!(!error.to_string().contains("4111"), "{error}");
        assert!(String::from_value(ValueRef::Blob(b"text")).is_err());
        assert!(<[u8; 2]>::from_value(ValueRef::Blob(b"abc")).is_err());
        assert!(String::from_value(ValueRef::Null).is_err());
        assert!(String::from_value(ValueRef::Text(&[0xff])).is_err());
        assert_eq!(Option::<String>::from_value(ValueRef::Null).unwrap(), None);
    }
}
