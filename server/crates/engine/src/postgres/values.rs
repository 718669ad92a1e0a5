//! Values on their way to PostgreSQL and back. Columns are `bigint`, `text`, `bytea` and `double precision`; a truth
//! value of an expression is read as 0 or 1.

use std::borrow::Cow;
use std::error::Error as StdError;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};

use crate::{Columns, Error, ErrorKind, OwnedValue, Result, ToValue as _, ValueRef};

type Boxed = Box<dyn StdError + Sync + Send>;

/// A value that is sent as the type that the statement expects.
#[derive(Debug)]
struct Sent<'a>(ValueRef<'a>);

impl ToSql for Sent<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Boxed> {
        if let Kind::Domain(base) = kind.kind() {
            return self.to_sql(base, out);
        }
        match (self.0, kind) {
            (ValueRef::Null, _) => return Ok(IsNull::Yes),
            (ValueRef::Integer(number), &Type::INT8) => number.to_sql(kind, out)?,
            (ValueRef::Integer(number), &Type::INT4) => i32::try_from(number)?.to_sql(kind, out)?,
            (ValueRef::Integer(number), &Type::INT2) => i16::try_from(number)?.to_sql(kind, out)?,
            (ValueRef::Integer(number), &Type::BOOL) => (number != 0).to_sql(kind, out)?,
            #[expect(clippy::cast_precision_loss, reason = "a column of real numbers takes any number")]
            (ValueRef::Integer(number), &Type::FLOAT8) => (number as f64).to_sql(kind, out)?,
            (ValueRef::Real(number), &Type::FLOAT8) => number.to_sql(kind, out)?,
            (ValueRef::Text(text), &Type::TEXT | &Type::VARCHAR) => {
                replace_zeros(std::str::from_utf8(text)?).to_sql(kind, out)?
            }
            // A text is also the bytes that it has in UTF-8.
            (ValueRef::Blob(bytes) | ValueRef::Text(bytes), &Type::BYTEA) => bytes.to_sql(kind, out)?,
            (_, kind) => return Err(format!("a parameter does not fit the type {kind}").into()),
        };
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        // The value decides, not the Rust type.
        true
    }

    to_sql_checked!();
}

/// A value that outlives the call that sends it.
#[derive(Debug)]
pub(super) struct Kept(pub(super) OwnedValue);

impl ToSql for Kept {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Boxed> {
        Sent(self.0.to_value()?).to_sql(kind, out)
    }

    fn accepts(kind: &Type) -> bool {
        Sent::accepts(kind)
    }

    to_sql_checked!();
}

/// Passes values as the library takes them.
pub(super) fn with_parameters<T>(values: &[ValueRef<'_>], run: impl FnOnce(&[&(dyn ToSql + Sync)]) -> T) -> T {
    let sent: Vec<Sent<'_>> = values.iter().map(|value| Sent(*value)).collect();
    let parameters: Vec<&(dyn ToSql + Sync)> = sent.iter().map(|value| value as _).collect();
    run(&parameters)
}

/// Replaces zero characters, which no text of PostgreSQL has, by the one for what cannot be shown. So a search for
/// one finds nothing, as elsewhere, instead of a failure.
fn replace_zeros(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// A column as it was received.
struct Received<'a>(ValueRef<'a>);

impl<'a> FromSql<'a> for Received<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Boxed> {
        let integer = |number: i64| Ok(Self(ValueRef::Integer(number)));
        match *kind {
            Type::INT8 => integer(i64::from_sql(kind, raw)?),
            Type::INT4 => integer(i32::from_sql(kind, raw)?.into()),
            Type::INT2 => integer(i16::from_sql(kind, raw)?.into()),
            Type::BOOL => integer(bool::from_sql(kind, raw)?.into()),
            Type::FLOAT8 => Ok(Self(ValueRef::Real(f64::from_sql(kind, raw)?))),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => Ok(Self(ValueRef::Text(raw))),
            Type::BYTEA => Ok(Self(ValueRef::Blob(raw))),
            _ => Err(format!("a column has the type {kind}, which no value has").into()),
        }
    }

    fn from_sql_null(_: &Type) -> Result<Self, Boxed> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Returns true if values of the type are read.
pub(super) fn is_readable(kind: &Type) -> bool {
    let readable = [
        Type::INT8,
        Type::INT4,
        Type::INT2,
        Type::BOOL,
        Type::FLOAT8,
        Type::TEXT,
        Type::VARCHAR,
        Type::NAME,
        Type::UNKNOWN,
        Type::BYTEA,
    ];
    readable.contains(kind)
}

/// Returns true if values are sent as the type.
pub(super) fn is_sendable(kind: &Type) -> bool {
    let base = match kind.kind() {
        Kind::Domain(base) => base,
        _ => kind,
    };
    is_readable(base) && !matches!(*base, Type::NAME | Type::UNKNOWN)
}

impl Columns for tokio_postgres::Row {
    fn value(&self, column: usize) -> Result<ValueRef<'_>> {
        self.try_get::<_, Received<'_>>(column)
            .map(|Received(value)| value)
            .map_err(|error| Error::new(ErrorKind::Other, error.to_string()))
    }

    fn count(&self) -> usize {
        self.len()
    }
}
