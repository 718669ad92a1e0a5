-- Registrations, their sealed accounts with the blind index that finds them, and standing instructions.
CREATE TABLE registration (
    entity TEXT NOT NULL, id TEXT NOT NULL, document BLOB NOT NULL, PRIMARY KEY (entity, id)
) WITHOUT ROWID;
CREATE TABLE registration_account (
    registration TEXT PRIMARY KEY, entity TEXT NOT NULL, blind BLOB NOT NULL, purge_at INTEGER,
    sealed BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX registration_account_blind ON registration_account (entity, blind);
CREATE INDEX registration_account_purge ON registration_account (purge_at) WHERE purge_at IS NOT NULL;
CREATE TABLE standing_instruction (
    entity TEXT NOT NULL, initial TEXT NOT NULL, registration TEXT, document BLOB NOT NULL,
    PRIMARY KEY (entity, initial)
) WITHOUT ROWID;
CREATE INDEX standing_instruction_registration ON standing_instruction (registration)
    WHERE registration IS NOT NULL;
