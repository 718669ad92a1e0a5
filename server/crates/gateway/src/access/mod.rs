//! Access: the records that an entity may see, the sender of a request, the acts of administrators on entities, tokens
//! and users, the sign-in of users, and the audit log for people.

pub mod actor;
mod approval_requests;
pub mod approvals;
pub mod approved_key_act;
pub mod audit_log;
pub mod channel_settings;
pub mod confirmation;
pub mod entity;
pub mod form_look;
pub mod found_session;
pub mod invitation;
pub mod link_token;
pub mod own_account;
pub mod own_passkeys;
pub mod passkey;
pub mod passkey_sign_in;
pub mod place;
pub mod rights;
pub(crate) mod routing;
pub mod saved_view;
pub(crate) mod second_person;
pub(crate) mod sender;
pub mod setting_table;
mod setting_values;
pub mod settings;
pub mod sign_in;
pub mod sign_in_limits;
pub mod token;
pub mod users;
