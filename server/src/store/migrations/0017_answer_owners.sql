-- A stored response may be about a channel, which may get another merchant.
ALTER TABLE answer ADD COLUMN owner TEXT;
