//! Sliding windows, divided into buckets. Counters in memory and stored counters share them.

use std::collections::VecDeque;

/// Largest number of buckets that a window is divided into.
const BUCKETS: i64 = 60;
/// Largest number of different values that are kept for a window. If there are more, those seen last are kept, so the
/// number of values is exact up to this one.
pub const MAX_DISTINCT: u16 = 1_000;

/// Contribution of a payment to a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Increment {
    /// Adds to the total: 1, or an amount in hundredths.
    Total(i64),
    /// Adds a value, given as its hash, to the different ones.
    Value(u64),
}

/// The payments of a window, by bucket. A window of 1 h has buckets of 1 min and covers between 60 and 61 minutes.
///
/// Its time never goes back: a payment from before the latest one is counted as if it were made at the same time.
/// Payments that run at the same time come in any order, and each has to see those that were counted before it. If a
/// clock was set back by more than the window, the buckets are moved back with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SlidingWindow {
    /// Length in seconds.
    seconds: i64,
    /// Ascending by number. All are within the window that ends with the last one.
    buckets: VecDeque<Bucket>,
}

/// A bucket of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bucket {
    /// Time in widths of a bucket since 1970.
    pub(super) number: i64,
    /// Sum of the increments.
    pub(super) total: i64,
    /// Hashes of the values that were last seen in this bucket, in the order in which they were seen.
    pub(super) values: Vec<u64>,
}

impl SlidingWindow {
    /// Creates a window without payments.
    pub(super) fn new(seconds: i64) -> Self {
        Self { seconds, buckets: VecDeque::new() }
    }

    /// Restores a window from its buckets, newest first. Returns `None` if they are not in order, do not fit in one
    /// window, or have too many values.
    pub(super) fn from_buckets(seconds: i64, newest_first: Vec<Bucket>) -> Option<Self> {
        let mut window = Self::new(seconds);
        let newest = newest_first.first().map(|bucket| bucket.number);
        for bucket in newest_first {
            let is_before_next = window.buckets.front().is_none_or(|next| bucket.number < next.number);
            let is_covered = newest.is_some_and(|newest| bucket.number >= newest - window.span());
            if !is_before_next || !is_covered {
                return None;
            }
            window.buckets.push_front(bucket);
        }
        let values: usize = window.buckets.iter().map(|bucket| bucket.values.len()).sum();
        (values <= usize::from(MAX_DISTINCT)).then_some(window)
    }

    /// Returns the length in seconds.
    pub(super) fn seconds(&self) -> i64 {
        self.seconds
    }

    /// Returns the buckets, newest first.
    pub(super) fn buckets(&self) -> impl ExactSizeIterator<Item = &Bucket> {
        self.buckets.iter().rev()
    }

    /// Returns the first second that the window of the latest payment does not cover any more. `None` without payments.
    pub(super) fn end(&self) -> Option<i64> {
        Some((self.buckets.back()?.number + self.span() + 1).saturating_mul(self.width()))
    }

    /// Counts a payment at a second since 1970. Drops what the window does not cover any more.
    pub(super) fn count_increment(&mut self, second: i64, increment: Increment) {
        let present = self.advance_to(second);
        if self.buckets.back().is_none_or(|bucket| bucket.number != present) {
            self.buckets.push_back(Bucket { number: present, ..Bucket::default() });
        }
        let Some(bucket) = self.buckets.back_mut() else { return };
        match increment {
            Increment::Total(amount) => bucket.total = bucket.total.saturating_add(amount),
            Increment::Value(value) => self.add_value(value),
        }
    }

    /// Returns the total of the payments, or the number of different values, in the window that contains a second since
    /// 1970 and the latest payment.
    pub(super) fn read(&self, second: i64) -> i64 {
        let latest = self.buckets.back().map_or(i64::MIN, |bucket| bucket.number);
        let first = second.div_euclid(self.width()).max(latest) - self.span();
        // A bucket has a total or values, never both.
        let count =
            |bucket: &Bucket| bucket.total.saturating_add(i64::try_from(bucket.values.len()).unwrap_or(i64::MAX));
        let covered = self.buckets.iter().filter(|bucket| bucket.number >= first);
        covered.fold(0, |total, bucket| total.saturating_add(count(bucket)))
    }

    /// Returns the longest time in seconds for which a payment is counted: the length, and up to one bucket more.
    pub(super) fn reach(&self) -> i64 {
        (self.span() + 1) * self.width()
    }

    /// Returns the length of a bucket in seconds.
    fn width(&self) -> i64 {
        (self.seconds + BUCKETS - 1).div_euclid(BUCKETS).max(1)
    }

    /// Returns the number of buckets before the present one that a window covers.
    fn span(&self) -> i64 {
        (self.seconds + self.width() - 1).div_euclid(self.width())
    }

    /// Returns the number of the present bucket, and drops those that its window does not cover.
    fn advance_to(&mut self, second: i64) -> i64 {
        let (number, span) = (second.div_euclid(self.width()), self.span());
        let latest = self.buckets.back().map_or(number, |bucket| bucket.number);
        let ahead = latest - number;
        if ahead > span {
            self.buckets.iter_mut().for_each(|bucket| bucket.number -= ahead);
        }
        let present = if ahead > span { number } else { number.max(latest) };
        while self.buckets.front().is_some_and(|bucket| bucket.number < present - span) {
            self.buckets.pop_front();
        }
        present
    }

    /// Moves a value to the latest bucket, or adds it there. So each value is kept once, with the time at which it was
    /// last seen. Beyond the largest number, forgets the value that was not seen for longest.
    fn add_value(&mut self, value: u64) {
        for bucket in &mut self.buckets {
            bucket.values.retain(|known| *known != value);
        }
        let Some(latest) = self.buckets.back_mut() else { return };
        latest.values.push(value);
        let values: usize = self.buckets.iter().map(|bucket| bucket.values.len()).sum();
        if values > usize::from(MAX_DISTINCT)
            && let Some(oldest) = self.buckets.iter_mut().find(|bucket| !bucket.values.is_empty())
        {
            oldest.values.remove(0);
        }
        self.buckets.retain(|bucket| !bucket.values.is_empty());
    }
}
