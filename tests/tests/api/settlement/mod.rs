//! Settlement: the ledger, settlements, files of institutes, reconciliation, and the FTP server.

pub mod file_attacks;
pub mod file_histories;
pub mod file_limits;
pub mod file_notations;
pub mod file_payments;
pub mod files;
pub mod ftp;
pub mod ftp_attacks;
pub mod ftp_clients;
pub mod ledger;
pub mod rates;
pub mod reconciliation_files;
pub mod reconciliation_records;
pub mod second_opinion;
pub mod second_opinion_disputes;
pub mod settlement_reports;
pub mod settlement_runs;
pub mod settlements;
pub mod unmatched;
pub mod wrong_bookings;
