//! Sandboxes: the demo and its data, the acquirer's host, and the clock.

pub mod acquirer;
pub mod acquirer_host;
mod acquirer_lines;
pub mod acquirer_settlement;
pub mod clock;
pub mod demo;
pub mod demo_data;
pub mod demo_rules;
pub mod demo_shop;
pub mod iso8583_options;
mod private_file;
pub mod three_ds_server;
mod upstream;
