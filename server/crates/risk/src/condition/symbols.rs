//! The facts and velocity counters that the conditions of a file use, each once.

use super::super::fact::Fact;
use super::super::velocity::VelocityCounter;
use super::super::{MAX_COUNTERS, MAX_DISTINCT_COUNTERS, MAX_FACTS};

/// Facts and counters by index.
#[derive(Debug, Clone, Default)]
pub(crate) struct Symbols {
    facts: Vec<Fact>,
    counters: Vec<VelocityCounter>,
}

impl Symbols {
    /// Returns the index of a fact, which is added if it is new.
    ///
    /// # Errors
    /// If there are too many facts.
    pub(super) fn intern_fact(&mut self, fact: Fact) -> Result<usize, String> {
        if let Some(index) = self.facts.iter().position(|known| known.name == fact.name) {
            return Ok(index);
        }
        if self.facts.len() == MAX_FACTS {
            return Err(format!("a file uses at most {MAX_FACTS} different facts"));
        }
        self.facts.push(fact);
        Ok(self.facts.len() - 1)
    }

    /// Returns the index of a counter, which is added if it is new.
    ///
    /// # Errors
    /// If there are too many counters.
    pub(super) fn intern_counter(&mut self, counter: VelocityCounter) -> Result<usize, String> {
        if let Some(index) = self.counters.iter().position(|known| *known == counter) {
            return Ok(index);
        }
        if self.counters.len() == MAX_COUNTERS {
            return Err(format!("a file uses at most {MAX_COUNTERS} different velocity counters"));
        }
        let distinct = self.counters.iter().filter(|known| known.is_distinct()).count();
        if counter.is_distinct() && distinct == MAX_DISTINCT_COUNTERS {
            return Err(format!("a file counts different values in at most {MAX_DISTINCT_COUNTERS} ways"));
        }
        self.counters.push(counter);
        Ok(self.counters.len() - 1)
    }

    /// Returns all facts.
    pub(crate) fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Returns all counters.
    pub(crate) fn counters(&self) -> &[VelocityCounter] {
        &self.counters
    }

    /// Returns a fact. The index comes from [`Symbols::intern_fact`].
    pub(super) fn find_fact(&self, index: usize) -> Option<&Fact> {
        self.facts.get(index)
    }
}
