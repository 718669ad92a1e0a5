-- Reported violations of Content-Security-Policies, and the seals of stored builds of the form. Earlier builds have
-- none, and are stored again when a server starts with them.
CREATE TABLE policy_report (
    entity TEXT NOT NULL, directive TEXT NOT NULL, blocked TEXT NOT NULL, document TEXT NOT NULL,
    source TEXT NOT NULL, enforced INTEGER NOT NULL, count INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, PRIMARY KEY (entity, directive, blocked, document, source, enforced)
) WITHOUT ROWID;
ALTER TABLE form_build ADD COLUMN seal BLOB;
