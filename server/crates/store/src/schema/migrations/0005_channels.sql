-- An entity may be the channel of a merchant.
ALTER TABLE entity ADD COLUMN merchant TEXT REFERENCES entity (id);
