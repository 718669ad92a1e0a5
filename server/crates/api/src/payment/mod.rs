//! Payments, and the pages of sandboxes on which shoppers decide about them.

pub mod brand_page;
pub mod page;
pub mod payments;
pub mod query;
pub mod response_cache;
pub mod wallet_sheet;
