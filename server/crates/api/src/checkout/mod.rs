//! Checkouts, and the form and its files.

pub mod checkouts;
pub mod fields_host;
pub mod form;
pub mod form_config;
pub mod host_names;
pub mod isolation;
pub mod plain_form;
pub mod policy_reports;
pub mod report_limiter;
pub mod scripts;
pub mod shopper_return;
pub mod sprite;
