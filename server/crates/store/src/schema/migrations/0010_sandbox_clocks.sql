-- A sandbox entity's clock may be ahead of the machine's, in milliseconds.
ALTER TABLE entity ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0;
