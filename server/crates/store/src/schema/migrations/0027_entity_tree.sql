-- Entities are a tree of four levels. Entities with a merchant become its channels, all others merchants. The column
-- `merchant` is the parent of a channel, and NULL for all others.
ALTER TABLE entity RENAME COLUMN merchant TO parent;
ALTER TABLE entity ADD COLUMN level TEXT NOT NULL DEFAULT 'merchant'
    CHECK (level IN ('psp', 'division', 'merchant', 'channel'));
UPDATE entity SET level = 'channel' WHERE parent IS NOT NULL;
ALTER TABLE entity ADD COLUMN merchant TEXT GENERATED ALWAYS AS (CASE level WHEN 'channel' THEN parent END) VIRTUAL;
CREATE INDEX entity_parent ON entity (parent) WHERE parent IS NOT NULL;

-- The levels that may stand below one another. There is no cycle among them.
CREATE TABLE entity_level (level TEXT NOT NULL, parent TEXT NOT NULL, PRIMARY KEY (level, parent)) WITHOUT ROWID;
INSERT INTO entity_level (level, parent) VALUES
    ('division', 'psp'), ('merchant', 'psp'), ('merchant', 'division'), ('channel', 'merchant');
CREATE VIEW entity_fault AS SELECT entity.id, entity.parent FROM entity
    LEFT JOIN entity AS above ON above.id = entity.parent
    WHERE (entity.level = 'channel' AND entity.parent IS NULL)
    OR (entity.parent IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM entity_level WHERE level = entity.level AND parent = above.level));
CREATE TRIGGER entity_tree_insert AFTER INSERT ON entity BEGIN
    SELECT RAISE(ABORT, 'an entity stands below one of a higher level') FROM entity_fault WHERE id = NEW.id;
    SELECT RAISE(ABORT, 'live and sandbox entities are in trees of their own') FROM entity
        WHERE id = NEW.parent AND live <> NEW.live;
END;
CREATE TRIGGER entity_tree_update AFTER UPDATE ON entity
    WHEN NEW.id <> OLD.id OR NEW.level <> OLD.level OR NEW.parent IS NOT OLD.parent
BEGIN
    SELECT RAISE(ABORT, 'an entity stands below one of a higher level') FROM entity_fault
        WHERE id = NEW.id OR parent = NEW.id;
    SELECT RAISE(ABORT, 'live and sandbox entities are in trees of their own') FROM entity
        WHERE id = NEW.parent AND live <> NEW.live;
END;
