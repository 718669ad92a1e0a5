//! Message authentication codes: retail MAC with DES (ANSI X9.19), and CMAC with AES (NIST SP 800-38B).

use std::fmt;

use aes::{Aes128, Aes192, Aes256};
use cmac::{Cmac, KeyInit, Mac};
use des::Des;
use retail_mac::RetailMac;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::codec::ElementPlaces;
use super::dialect::{Dialect, MacAlgorithm, MacCoverage, MacPadding, MacRule};
use super::error::{DecodeError, EncodeError, IsoFault};
use super::layout::ValueLength;
use super::message::{IsoMessage, IsoValue};
use super::plain::join_nibbles;

/// Place of the MAC, for errors.
const PLACE: &str = "MAC";

/// Key of a MAC algorithm. Its memory is zeroed when it is dropped, and its `Debug` shows a mask.
#[derive(Clone)]
pub struct MacKey {
    algorithm: MacAlgorithm,
    bytes: Zeroizing<Vec<u8>>,
}

impl MacKey {
    /// Makes a key: two DES keys of 8 bytes for the retail MAC, 16, 24 or 32 bytes for AES. Returns `None` for another
    /// length.
    pub fn new(algorithm: MacAlgorithm, bytes: &[u8]) -> Option<Self> {
        let is_length = match algorithm {
            MacAlgorithm::RetailX919 => bytes.len() == 16,
            MacAlgorithm::CmacAes => matches!(bytes.len(), 16 | 24 | 32),
        };
        is_length.then(|| Self { algorithm, bytes: Zeroizing::new(bytes.to_vec()) })
    }

    /// Reads a key from hexadecimal digits. Returns `None` for any other text or length.
    pub fn parse(algorithm: MacAlgorithm, text: &str) -> Option<Self> {
        let nibbles = text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok()));
        let nibbles = Zeroizing::new(nibbles.collect::<Option<Vec<u8>>>()?);
        let bytes = Zeroizing::new(join_nibbles(&nibbles)?);
        Self::new(algorithm, &bytes)
    }

    /// Calculates the whole MAC of bytes. The retail MAC pads with zeros; [`MacPadding::OneAndZeros`] puts the byte 80
    /// before them.
    pub(super) fn compute(&self, data: &[u8], padding: Option<MacPadding>) -> Result<Vec<u8>, IsoFault> {
        let end: &[u8] = if padding == Some(MacPadding::OneAndZeros) { &[0x80] } else { &[] };
        match (self.algorithm, self.bytes.len()) {
            (MacAlgorithm::RetailX919, _) => compute_mac::<RetailMac<Des>>(&self.bytes, [data, end]),
            (MacAlgorithm::CmacAes, 16) => compute_mac::<Cmac<Aes128>>(&self.bytes, [data, &[]]),
            (MacAlgorithm::CmacAes, 24) => compute_mac::<Cmac<Aes192>>(&self.bytes, [data, &[]]),
            (MacAlgorithm::CmacAes, _) => compute_mac::<Cmac<Aes256>>(&self.bytes, [data, &[]]),
        }
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MacKey({:?}, •••)", self.algorithm)
    }
}

/// Calculates a MAC of data in two pieces.
fn compute_mac<M: Mac + KeyInit>(key: &[u8], data: [&[u8]; 2]) -> Result<Vec<u8>, IsoFault> {
    let mut mac = <M as KeyInit>::new_from_slice(key).map_err(|_| IsoFault::MacKey)?;
    data.into_iter().for_each(|piece| mac.update(piece));
    Ok(mac.finalize().into_bytes().to_vec())
}

impl Dialect {
    /// Encodes a message with its MAC in the last field. A MAC that the message has already is replaced.
    ///
    /// # Errors
    /// The errors of [`Self::encode`]; and the key is of another algorithm, or a field follows the MAC.
    pub fn encode_with_mac(&self, message: &IsoMessage, key: &MacKey) -> Result<Vec<u8>, EncodeError> {
        let refuse = |fault| EncodeError { place: PLACE.to_owned(), fault };
        let rule = self.find_rule(key).map_err(refuse)?;
        let mut message = message.clone();
        for number in &rule.fields {
            message.remove_field(*number);
        }
        let last = message.last_number().unwrap_or_default();
        let field = rule.fields.iter().copied().find(|number| *number > last);
        let field = field.ok_or_else(|| refuse(IsoFault::MacMissing))?;
        // The bitmap has to have the MAC's bit before the MAC is calculated.
        message.set_field(field, IsoValue::Bytes(vec![0; self.mac_field_length(field)]));
        let (bytes, places) = self.encode_with_places(&message)?;
        let mac = self.compute_field_mac(rule, field, &bytes, &places, key).map_err(refuse)?;
        message.set_field(field, IsoValue::Bytes(mac));
        self.encode(&message)
    }

    /// Decodes a message, and verifies its MAC over the received bytes in constant time.
    ///
    /// # Errors
    /// The errors of [`Self::decode`]; and the key is of another algorithm, or the MAC is missing or wrong.
    pub fn decode_with_mac(&self, bytes: &[u8], key: &MacKey) -> Result<IsoMessage, DecodeError> {
        let (message, places) = self.decode_with_places(bytes)?;
        let field = places.last_number();
        let offset = field.and_then(|number| places.find(number)).map_or(bytes.len(), |place| place.start);
        let refuse = |fault| DecodeError { place: PLACE.to_owned(), offset, fault };
        let rule = self.find_rule(key).map_err(refuse)?;
        let found = field.filter(|number| rule.fields.contains(number)).and_then(|number| {
            let IsoValue::Bytes(mac) = message.field(number)? else { return None };
            Some((number, mac))
        });
        let (field, found) = found.ok_or_else(|| refuse(IsoFault::MacMissing))?;
        let expected = self.compute_field_mac(rule, field, bytes, &places, key).map_err(refuse)?;
        if bool::from(expected.ct_eq(found)) { Ok(message) } else { Err(refuse(IsoFault::MacMismatch)) }
    }

    /// Returns the rule for MACs, if the key is of its algorithm.
    fn find_rule(&self, key: &MacKey) -> Result<&MacRule, IsoFault> {
        self.mac().filter(|rule| rule.algorithm == key.algorithm).ok_or(IsoFault::MacKey)
    }

    /// Returns the length of a MAC's field in bytes.
    fn mac_field_length(&self, number: u8) -> usize {
        match self.field_layout(number).map(|field| field.value.length) {
            Some(ValueLength::Fixed(length)) => length,
            _ => 0,
        }
    }

    /// Calculates the MAC of an encoded message, as long as its field.
    fn compute_field_mac(
        &self,
        rule: &MacRule,
        field: u8,
        bytes: &[u8],
        places: &ElementPlaces,
        key: &MacKey,
    ) -> Result<Vec<u8>, IsoFault> {
        let covered = Zeroizing::new(find_covered_bytes(rule, field, bytes, places));
        let mut mac = key.compute(&covered, rule.padding)?;
        mac.truncate(self.mac_field_length(field));
        Ok(mac)
    }
}

/// Returns the bytes of a message that its MAC covers.
fn find_covered_bytes(rule: &MacRule, field: u8, bytes: &[u8], places: &ElementPlaces) -> Vec<u8> {
    match &rule.coverage {
        MacCoverage::Message => {
            let end = places.find(field).map_or(0, |place| place.start);
            bytes.get(..end).unwrap_or_default().to_vec()
        }
        MacCoverage::Elements(numbers) => {
            let elements = numbers.iter().filter_map(|number| bytes.get(places.find(*number)?));
            elements.flatten().copied().collect()
        }
    }
}
