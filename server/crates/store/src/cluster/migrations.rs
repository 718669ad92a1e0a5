//! The migrations of a database of PostgreSQL.

use tillgate_engine::postgres::ClusterMigration;

/// The migrations, oldest first. The first one makes the schema that the migrations of SQLite have made by then.
pub(super) const MIGRATIONS: &[ClusterMigration] = &[
    ClusterMigration { version: 68, script: include_str!("../schema/postgres_migrations/0068_baseline.sql") },
    ClusterMigration { version: 69, script: include_str!("../schema/postgres_migrations/0069_partial_approvals.sql") },
    ClusterMigration { version: 70, script: include_str!("../schema/postgres_migrations/0070_card_attempts.sql") },
    ClusterMigration { version: 71, script: include_str!("../schema/postgres_migrations/0071_increments.sql") },
];
