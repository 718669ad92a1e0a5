//! Tests of Tillgate over HTTP, from the view of a merchant's server and a shopper's browser: the real binary with its
//! own data folder, one module per subject.

#![allow(missing_docs)]
#![allow(clippy::too_many_lines, reason = "a test is one story, which is read from its beginning to its end")]

mod access;
mod acquirer;
mod bundle;
mod checkout;
mod delivery;
mod dispute;
mod keys;
mod payment;
mod registration;
mod report;
mod request;
mod review;
mod risk;
mod schedule;
mod service;
mod settlement;
mod support;
mod three_ds;
