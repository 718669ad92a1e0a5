//! The particulars of the form of a brand that is no card.

use tillgate_shared::frame_messages::OfferedBrand;

/// The particulars of the form of a brand.
#[derive(Debug)]
pub struct BrandPart {
    /// The brand.
    pub offered: OfferedBrand,
    /// True if the shopper names the account by a picture or a phone number.
    pub(super) has_modes: bool,
    /// True if the shopper has to sign a mandate.
    pub(super) signs_mandate: bool,
    /// Name of the merchant to whom the mandate is given.
    pub(super) creditor: String,
    /// True while the checkout does not offer the brand.
    pub(super) is_gone: bool,
}
