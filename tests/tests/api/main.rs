//! Tillgate over HTTP, as a merchant's server and a shopper's browser meet it: the real binary, a file of its own, one
//! module a subject.

#![allow(missing_docs)]

mod accounts;
mod asynchronous;
mod authentication;
mod bodies;
mod browser_parameters;
mod bundle;
mod card_on_file;
mod card_testing;
mod catalogue;
mod channel_registrations;
mod checkouts;
mod clock;
mod command_line;
mod declarations;
mod duplicates;
mod encodings;
mod entities;
mod entity_settings;
mod expiry;
mod form_files;
mod formats;
mod frame_document;
mod fuzz;
mod hardship;
mod idempotency;
mod numbered_pages;
mod older_clients;
mod once;
mod outcomes;
mod overdue;
mod payments;
mod pinning;
mod plain_form;
mod queries;
mod reference;
mod references;
mod registered_accounts;
mod registered_later;
mod registrations;
mod requirements;
mod routes;
mod secrets;
mod service;
mod stored_in_form;
mod submit;
mod summary;
mod support;
mod sweep;
mod threeds;
mod told_later;
mod wallet;
mod wallet_sheet;
mod webhooks;
