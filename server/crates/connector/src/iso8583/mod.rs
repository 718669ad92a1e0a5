//! ISO 8583: messages of card acquirers in the dialects of TOML files. No I/O but in [`connector`]: bytes in, messages
//! out.
//!
//! A [`Dialect`] encodes an [`IsoMessage`] and decodes it again, exactly: the order of parts and unknown tags are kept,
//! because a MAC covers the bytes. A [`FrameReader`] finds messages in a stream. Whatever is received, nothing panics,
//! and a message allocates a small multiple of its bytes.

mod bitmap;
mod charset;
mod codec;
pub mod connector;
mod data;
mod describe;
mod dialect;
mod error;
mod frame;
mod layout;
mod mac;
mod message;
mod number;
mod plain;
mod reader;
mod value;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use charset::IsoCharset;
pub use data::{DataTable, Datum, OriginalRequest};
pub use describe::DescribedElement;
pub use dialect::{
    DIALECTS, Dialect, DialectError, IsoRequest, IsoRequestKind, IsoVersion, MacAlgorithm, MacCoverage, MacPadding,
    MacRule,
};
pub use error::{DecodeError, EncodeError, IsoFault};
pub use frame::{Frame, FrameError, FrameLayout, FrameReader, HeaderKind, MAX_FRAME, Tpdu, write_frame};
pub use layout::IsoKind;
pub use mac::MacKey;
pub use message::{IsoMessage, IsoPart, IsoValue, Mti};
