-- The owner of a stored response: the channel that it is about, which may get another merchant.
ALTER TABLE answer ADD COLUMN owner TEXT;
