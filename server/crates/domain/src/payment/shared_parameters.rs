//! Parameters shared by the attempts of a checkout. A checkout can be tried ten times, and each attempt repeats all
//! parameters of the merchant. Parameters whose number is not limited (those with a bracket in their name, such as
//! `customParameters[shop]`) are stored with one attempt, and later attempts refer to it.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::Parameters;

use super::Payment;
use crate::id::PaymentId;

/// Reference from an attempt to an earlier one that stores the shared parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedParameters {
    /// The earlier attempt. It belongs to the same entity and does not refer to another attempt itself.
    pub payment: PaymentId,
    /// Parameters of the earlier attempt that this one does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    /// Shareable parameters that are stored with this attempt. Set when the attempt is compared or loaded.
    #[serde(skip)]
    own: HashSet<String>,
}

/// Returns true for a name with a bracket: the number of such parameters is not limited.
fn is_shareable(name: &str) -> bool {
    name.contains('[')
}

/// Returns the parameters that attempts share, in order.
fn shareable_parameters(parameters: &Parameters) -> impl Iterator<Item = (&str, &str)> {
    parameters.iter().filter(|(name, _)| is_shareable(name))
}

impl Payment {
    /// Makes this attempt refer to an earlier attempt for the shareable parameters that both have with the same value.
    /// Its own parameters do not change. Does nothing if they have none in common, or if the earlier attempt belongs to
    /// another entity or refers to an attempt itself.
    pub fn share_parameters_with(&mut self, earlier: &Self) {
        let is_same = |(name, value): &(&str, &str)| earlier.parameters.get(name) == Some(value);
        if earlier.entity != self.entity
            || earlier.shares.is_some()
            || !shareable_parameters(&self.parameters).any(|parameter| is_same(&parameter))
        {
            return;
        }
        let own = shareable_parameters(&self.parameters)
            .filter(|parameter| !is_same(parameter))
            .map(|(name, _)| name.to_owned())
            .collect();
        let without = shareable_parameters(&earlier.parameters).filter(|(name, _)| !self.parameters.contains(name));
        let without = without.map(|(name, _)| name.to_owned()).collect();
        self.shares = Some(SharedParameters { payment: earlier.id.clone(), without, own });
    }

    /// Returns the payment in its stored form, without the parameters that the earlier attempt stores. Returns `None`
    /// if it shares none.
    pub fn without_shared_parameters(&self) -> Option<Self> {
        let shared = self.shares.as_ref()?;
        let mut stored = self.clone();
        stored.parameters.retain(|name, _| !is_shareable(name) || shared.own.contains(name));
        Some(stored)
    }

    /// Completes a loaded payment with the parameters that it shares with an earlier attempt. Its own values take
    /// precedence. Does nothing if it shares none.
    pub fn add_shared_parameters(&mut self, earlier: &Self) {
        let Some(shared) = &mut self.shares else { return };
        shared.own = shareable_parameters(&self.parameters).map(|(name, _)| name.to_owned()).collect();
        for (name, value) in shareable_parameters(&earlier.parameters) {
            if !self.parameters.contains(name) && !shared.without.iter().any(|missing| missing == name) {
                self.parameters.set(name, value);
            }
        }
    }
}
