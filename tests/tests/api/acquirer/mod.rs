//! An acquirer's host in a process of its own, and the gateway's connection to it.

pub mod attacks;
pub mod capabilities;
pub mod captures;
pub mod connection_faults;
pub mod events;
pub mod every_connector;
pub mod faults;
pub mod host;
pub mod increments;
pub mod lines;
pub mod messages;
pub mod partial_approvals;
pub mod payments;
pub mod redirects;
pub mod refused_requests;
pub mod reservations;
pub mod retries;
pub mod seeded_days;
pub mod stranger_host;
pub mod three_ds;
pub mod upstream;
pub mod upstream_attacks;
pub mod ways;
