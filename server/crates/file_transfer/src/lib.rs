//! Files for merchants: the FTP server from which they fetch reconciliation files, and the push of those files to
//! servers of theirs.
//!
//! Knows the protocols (FTP with TLS, SFTP) and the names of files. Never decides what a file contains.

pub mod file_push;
pub mod ftp;
