//! Stored rows of counters: all windows of an entity for the same velocity keys with the same values, as compact bytes.
//!
//! A row begins with the version of its format. Then each window has the id of its counter (8 bytes), its length in
//! seconds, twice the number of its buckets, plus one if it has values, and the number of its newest bucket. Its
//! buckets follow, newest first: the distance to the bucket before (not for the newest), and the total, or the number
//! of values and the values (8 bytes each). Numbers are variable-length (LEB128), those with a sign in zigzag encoding.

use super::sliding_window::{Bucket, SlidingWindow};
use super::velocity::WINDOW_SECONDS;
use super::{CounterKey, MAX_COUNTERS};

/// Version of the format.
const FORMAT: u8 = 1;
/// Largest number of windows in a row: two rule sets have 128 counters, and a sum has a window for each currency.
/// Beyond it, those are dropped that were not used for longest. So sums are exact for the 32 currencies used last.
const MAX_WINDOWS: usize = 2 * MAX_COUNTERS * 32;
/// Largest number of buckets of a stored window.
const MAX_BUCKETS: u64 = 61;
/// Largest number of a bucket. It is beyond every [`jiff::Timestamp`], and calculations with it do not overflow.
const MAX_NUMBER: i64 = 1 << 40;
/// Unit of `purge_at` in seconds. The table is searched for ended rows once in this time.
const PURGE_UNIT: i64 = 3_600;

/// A stored row of counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterRow {
    /// Its name.
    pub key: CounterKey,
    /// Its windows.
    pub value: Vec<u8>,
    /// Time from which it is not needed any more, in milliseconds since 1970.
    pub purge_at: i64,
    /// True if it was loaded, or replaces a row that was. False for a new row.
    pub is_stored: bool,
}

/// A stored row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored velocity counters {key:?} are damaged")]
pub struct DamagedCounters {
    /// Name of the row.
    pub key: CounterKey,
}

/// The windows of a row by the ids of their counters, those used latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RowWindows(pub(super) Vec<(u64, SlidingWindow)>);

impl RowWindows {
    /// Decodes a row. Returns `None` if it was not encoded by [`Self::encode`].
    pub(super) fn decode(mut bytes: &[u8]) -> Option<Self> {
        if take_bytes(&mut bytes)? != [FORMAT] {
            return None;
        }
        let mut windows = Vec::new();
        while !bytes.is_empty() {
            if windows.len() == MAX_WINDOWS {
                return None;
            }
            windows.push(decode_window(&mut bytes)?);
        }
        Some(Self(windows))
    }

    /// Encodes the windows that a payment at this second could still read. Also returns the time from which there are
    /// none, in milliseconds.
    pub(super) fn encode(&self, second: i64) -> (Vec<u8>, i64) {
        let mut bytes = vec![FORMAT];
        let mut end = second;
        let used = self.0.iter().filter_map(|(id, window)| Some((id, window, window.end()?)));
        for (id, window, window_end) in used.filter(|(.., end)| *end > second).take(MAX_WINDOWS) {
            encode_window(&mut bytes, *id, window);
            end = end.max(window_end);
        }
        let purge_at = end.div_euclid(PURGE_UNIT).saturating_add(1).saturating_mul(PURGE_UNIT);
        (bytes, purge_at.saturating_mul(1_000))
    }

    /// Takes a window out. Returns a new one if there is none, and `None` if the stored one is of another length.
    pub(super) fn take_window(&mut self, id: u64, seconds: i64) -> Option<SlidingWindow> {
        let Some(at) = self.0.iter().position(|(known, _)| *known == id) else {
            return Some(SlidingWindow::new(seconds));
        };
        Some(self.0.remove(at).1).filter(|window| window.seconds() == seconds)
    }
}

fn encode_window(bytes: &mut Vec<u8>, id: u64, window: &SlidingWindow) {
    let buckets = window.buckets();
    let has_values = window.buckets().any(|bucket| !bucket.values.is_empty());
    bytes.extend(id.to_le_bytes());
    put_number(bytes, window.seconds().unsigned_abs());
    put_length(bytes, buckets.len() * 2 + usize::from(has_values));
    let mut next = None;
    for bucket in buckets {
        match next {
            None => put_signed(bytes, bucket.number),
            Some(next) => put_number(bytes, bucket.number.abs_diff(next)),
        }
        next = Some(bucket.number);
        if has_values {
            put_length(bytes, bucket.values.len());
            bytes.extend(bucket.values.iter().flat_map(|value| value.to_le_bytes()));
        } else {
            put_signed(bytes, bucket.total);
        }
    }
}

fn decode_window(bytes: &mut &[u8]) -> Option<(u64, SlidingWindow)> {
    let id = u64::from_le_bytes(take_bytes(bytes)?);
    let seconds = i64::try_from(take_number(bytes)?).ok().filter(|seconds| WINDOW_SECONDS.contains(seconds))?;
    let length = take_number(bytes)?;
    let (buckets, has_values) = (length / 2, length % 2 == 1);
    if !(1..=MAX_BUCKETS).contains(&buckets) {
        return None;
    }
    let mut newest_first = Vec::new();
    let mut next: Option<i64> = None;
    for _ in 0..buckets {
        let number = match next {
            None => take_signed(bytes)?,
            Some(next) => next.checked_sub_unsigned(take_number(bytes)?)?,
        };
        if number.abs() > MAX_NUMBER {
            return None;
        }
        next = Some(number);
        newest_first.push(decode_bucket(bytes, number, has_values)?);
    }
    Some((id, SlidingWindow::from_buckets(seconds, newest_first)?))
}

fn decode_bucket(bytes: &mut &[u8], number: i64, has_values: bool) -> Option<Bucket> {
    if !has_values {
        return Some(Bucket { number, total: take_signed(bytes)?, values: Vec::new() });
    }
    let count = take_number(bytes)?;
    // Each value is 8 bytes long, so a false count ends with the bytes.
    let values = (0..count).map(|_| Some(u64::from_le_bytes(take_bytes(bytes)?))).collect::<Option<Vec<u64>>>()?;
    (!values.is_empty()).then_some(Bucket { number, total: 0, values })
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    put_number(bytes, u64::try_from(length).unwrap_or(u64::MAX));
}

fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put_number(bytes, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

fn take_bytes<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = take_bytes(bytes)?;
        let part = u64::from(byte & 0x7f);
        if (part << shift) >> shift != part {
            return None;
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = take_number(bytes)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}
