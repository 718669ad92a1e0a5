-- Versions of an entity's risk rules. A version is the beginning of a hash of its rules.
CREATE TABLE risk_version (
    entity TEXT NOT NULL REFERENCES entity (id), version TEXT NOT NULL, text TEXT NOT NULL,
    author TEXT NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (entity, version)
);
-- The version that decides, the version that only records, and the number of list entries of an entity.
CREATE TABLE risk_entity (
    entity TEXT PRIMARY KEY REFERENCES entity (id), active TEXT, shadow TEXT, entries INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY (entity, active) REFERENCES risk_version (entity, version),
    FOREIGN KEY (entity, shadow) REFERENCES risk_version (entity, version)
) WITHOUT ROWID;
-- Entries of lists. Values are normalized like those of velocity keys; of cards and accounts they are blind indexes.
CREATE TABLE risk_list (
    entity TEXT NOT NULL REFERENCES entity (id), key TEXT NOT NULL, value TEXT NOT NULL,
    list TEXT NOT NULL CHECK (list IN ('allow', 'review', 'deny')), reason TEXT NOT NULL, author TEXT NOT NULL,
    created INTEGER NOT NULL, expires INTEGER, PRIMARY KEY (entity, key, value, list)
) WITHOUT ROWID;
CREATE TRIGGER risk_list_insert AFTER INSERT ON risk_list BEGIN
    INSERT INTO risk_entity (entity, entries) VALUES (NEW.entity, 1)
        ON CONFLICT (entity) DO UPDATE SET entries = entries + 1;
END;
CREATE TRIGGER risk_list_delete AFTER DELETE ON risk_list BEGIN
    UPDATE risk_entity SET entries = entries - 1 WHERE entity = OLD.entity;
END;
-- The audit of both: added versions and activations (kind 'rules'), changed and removed entries (kind 'list').
CREATE TABLE risk_change (
    id INTEGER PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), kind TEXT NOT NULL, action TEXT NOT NULL,
    subject TEXT NOT NULL, reason TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL
);
CREATE INDEX risk_change_entity ON risk_change (entity, kind, id);
