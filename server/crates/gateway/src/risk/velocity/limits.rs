//! Caps of the velocity limits.

use tillgate_domain::access::entity::Entity;

/// Caps in declines per hour; zero means no cap.
#[derive(Debug, Clone, Copy)]
pub struct VelocityLimits {
    /// Attempts in the whole lifetime of a checkout.
    pub per_checkout: u32,
    /// Declines per hour of a shopper's address. An IPv6 /64 is one address; a /56 has four times the cap, a /48
    /// sixteen times.
    pub per_address: u32,
    /// Declines per hour of an entity's cards with the same BIN.
    pub per_bin: u32,
    /// Declines per hour of an entity.
    pub per_entity: u32,
    /// Different card numbers per hour of an entity that share the first six and last four digits.
    pub alike_numbers: u32,
    /// Factor of every cap for sandbox entities; zero means no caps.
    pub sandbox_factor: u32,
}

impl VelocityLimits {
    /// No caps.
    pub const NONE: Self =
        Self { per_checkout: 0, per_address: 0, per_bin: 0, per_entity: 0, alike_numbers: 0, sandbox_factor: 0 };

    /// Returns a cap for an entity: the cap itself, or multiplied by the sandbox factor for a sandbox. `None` if the
    /// product is zero, which means no cap.
    pub(super) fn cap_for(&self, entity: &Entity, cap: u32) -> Option<i64> {
        let factor = if entity.live { 1 } else { self.sandbox_factor };
        let cap = i64::from(cap).saturating_mul(i64::from(factor));
        (cap > 0).then_some(cap)
    }

    /// Returns the number of attempts that a checkout of an entity allows in its whole lifetime. `None` if it is
    /// unlimited.
    pub fn checkout_attempts(&self, entity: &Entity) -> Option<u32> {
        self.cap_for(entity, self.per_checkout).map(|cap| u32::try_from(cap).unwrap_or(u32::MAX))
    }
}
