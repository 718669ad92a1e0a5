//! Latencies of a run. All are stored: a run has some hundred thousand, and the percentiles are exact.

use std::time::Duration;

/// Every latency of a run, in microseconds.
#[derive(Debug, Default)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Adds a latency.
    pub fn add(&mut self, latency: Duration) {
        self.0.push(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
    }

    /// Returns the number of latencies.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// Sorts the latencies and returns each of the `percents` percentiles (nearest rank), or 0 if there are no
    /// latencies.
    pub fn percentiles<const N: usize>(&mut self, percents: [u64; N]) -> [u64; N] {
        self.0.sort_unstable();
        percents.map(|percent| {
            let rank = (self.count() * percent).div_ceil(100).max(1);
            usize::try_from(rank - 1).ok().and_then(|at| self.0.get(at)).copied().unwrap_or(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let mut latencies = Latencies::default();
        for value in (1..=200).rev() {
            latencies.add(Duration::from_micros(value));
        }
        assert_eq!(latencies.percentiles([50, 99, 100]), [100, 198, 200]);
        assert_eq!(Latencies::default().percentiles([50]), [0]);
    }
}
