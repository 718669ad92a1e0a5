//! The schema of a store's file: its migrations, and its comparison with that of this version. A database has
//! `postgres_migrations` instead.

pub mod check;
pub mod guard;
pub mod migrations;
pub mod tables;
