//! Access: entities, their tree and settings, tokens, scopes, the isolation of merchants from each other, and the
//! access to the back office.

pub mod authentication;
pub mod back_office;
pub mod back_office_administration;
pub mod back_office_attacks;
pub mod back_office_audit;
pub mod back_office_confirmation;
pub mod back_office_customers;
pub mod back_office_deliveries;
pub mod back_office_host;
pub mod back_office_links;
pub mod back_office_money;
pub mod back_office_passkeys;
pub mod back_office_payment_acts;
pub mod back_office_permissions;
pub mod back_office_reads;
pub mod back_office_review_attacks;
pub mod back_office_reviews;
pub mod back_office_settings;
pub mod back_office_settlements;
pub mod back_office_unmatched;
pub mod channels;
pub mod entities;
pub mod isolation;
pub mod live_transport;
pub mod moved_channels;
pub mod office_browser;
pub mod passkey_device;
pub mod routing;
pub mod scopes;
pub mod settings;
pub mod tenants;
pub mod tokens;
pub mod tree;
pub mod tree_commands;
