//! Outcomes of reviews, counted for an analyst or a rule.

/// Numbers of reviews by their outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// Number of approvals.
    pub approved: u64,
    /// Number of cancellations.
    pub cancelled: u64,
    /// Number of reviews that ended because nobody decided in time.
    pub expired: u64,
    /// Number of acts that kept a payment held; for a rule, of payments with such an act.
    pub pended: u64,
    /// Number of approved payments that were charged back later.
    pub charged_back: u64,
    /// Seconds from the beginning of each review to its decision.
    seconds: Vec<i64>,
}

impl OutcomeCounts {
    /// Adds the time from the beginning of a review to its decision. A clock that was moved back counts as no time.
    pub fn add_time(&mut self, seconds: i64) {
        self.seconds.push(seconds.max(0));
    }

    /// Returns the median time to a decision in seconds: of an even number, the lower one of both in the middle. `None`
    /// without a decision.
    pub fn median_seconds(&self) -> Option<i64> {
        let mut sorted = self.seconds.clone();
        sorted.sort_unstable();
        let middle = sorted.len().checked_sub(1)? / 2;
        sorted.get(middle).copied()
    }

    /// Returns the number of approvals and cancellations.
    pub fn decided(&self) -> u64 {
        self.approved.saturating_add(self.cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_time_in_the_middle() {
        for (times, median) in
            [(&[][..], None), (&[7], Some(7)), (&[9, 1], Some(1)), (&[100, 1, 5], Some(5)), (&[-3], Some(0))]
        {
            let mut counts = OutcomeCounts::default();
            times.iter().for_each(|seconds| counts.add_time(*seconds));
            assert_eq!(counts.median_seconds(), median, "{times:?}");
        }
    }
}
