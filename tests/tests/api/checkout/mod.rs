//! Checkouts and their form, as a merchant's server and a shopper's browser see them over HTTP.

pub mod app_addresses;
pub mod brand_offers;
pub mod browser_parameters;
pub mod browser_storage;
pub mod browsers;
pub mod checkouts;
pub mod concurrent_submits;
pub mod expiry;
pub mod foreign_posts;
pub mod form_files;
pub mod frame_document;
pub mod origins;
pub mod pinning;
pub mod plain_form;
pub mod policy_reports;
pub mod presence;
pub mod redirects;
pub mod reminders;
pub mod requirements;
pub mod scripts;
pub mod shopper_knowledge;
pub mod stored_in_form;
pub mod submit;
pub mod summary;
