//! The service as a whole: command line, documents, storage, logs, overload.

pub mod backups;
pub mod check_page;
pub mod command_acts;
pub mod command_line;
pub mod crash;
pub mod database;
pub mod declarations;
pub mod demo;
pub mod demo_data;
pub mod draining;
pub mod earlier_store;
pub mod generated_clients;
pub mod id_order;
pub mod information;
pub mod log;
pub mod npm_package;
pub mod path_prefix;
pub mod reference;
pub mod resilience;
pub mod routes;
pub mod setup_faults;
pub mod slow_clients;
pub mod storage_failures;
pub mod text_files;
pub mod vault_key;
pub mod walkthroughs;
