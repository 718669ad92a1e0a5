//! Parameters that the attempts of a checkout share. A checkout can be tried ten times, and each attempt echoes everything
//! that the merchant sent. The parameters without a bound on their number (those with a bracket in their name, such as
//! `customParameters[shop]`) are stored with one attempt, and later attempts refer to it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::Parameters;

use super::Payment;
use crate::domain::id::PaymentId;

/// Reference of an attempt to an earlier one that holds the shared parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// The earlier attempt. It belongs to the same entity and refers to no other.
    pub payment: PaymentId,
    /// Parameters of the earlier attempt that this one does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    /// Parameters that could be shared and are stored with this attempt. Known after it was compared or loaded.
    #[serde(skip)]
    own: HashSet<String>,
}

fn is_shareable(name: &str) -> bool {
    name.contains('[')
}

fn shareable(parameters: &Parameters) -> impl Iterator<Item = (&str, &str)> {
    parameters.iter().filter(|(name, _)| is_shareable(name))
}

impl Payment {
    /// Refers to an earlier attempt for the parameters that both have. Does nothing if there are none, or if the other
    /// attempt belongs to another entity or refers to one itself.
    pub fn share_with(&mut self, earlier: &Self) {
        let same = |(name, value): &(&str, &str)| earlier.parameters.get(name) == Some(value);
        if earlier.entity != self.entity || earlier.shares.is_some() || !shareable(&self.parameters).any(|it| same(&it))
        {
            return;
        }
        let own = shareable(&self.parameters).filter(|it| !same(it)).map(|(name, _)| name.to_owned()).collect();
        let without = shareable(&earlier.parameters).filter(|(name, _)| !self.parameters.contains(name));
        let without = without.map(|(name, _)| name.to_owned()).collect();
        self.shares = Some(Shared { payment: earlier.id.clone(), without, own });
    }

    /// Returns the payment as it is stored, without what it shares. `None` if it shares nothing.
    pub fn without_shared(&self) -> Option<Self> {
        let shared = self.shares.as_ref()?;
        let mut stored = self.clone();
        stored.parameters.retain(|name, _| !is_shareable(name) || shared.own.contains(name));
        Some(stored)
    }

    /// Completes a payment that was loaded with the parameters that it shares with an earlier attempt.
    pub fn complete(&mut self, earlier: &Self) {
        let Some(shared) = &mut self.shares else { return };
        shared.own = shareable(&self.parameters).map(|(name, _)| name.to_owned()).collect();
        for (name, value) in shareable(&earlier.parameters) {
            if !self.parameters.contains(name) && !shared.without.iter().any(|gone| gone == name) {
                self.parameters.set(name, value);
            }
        }
    }
}
