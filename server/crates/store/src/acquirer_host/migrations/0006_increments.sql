-- What increments add to the amount of an authorization, and what is captured above its own amount: these increments,
-- and at most a fifth of all. The other part of the captured amount is in used.
ALTER TABLE entry ADD COLUMN raised INTEGER NOT NULL DEFAULT 0 CHECK (raised >= 0);
ALTER TABLE entry ADD COLUMN used_above INTEGER NOT NULL DEFAULT 0
    CHECK (used_above BETWEEN 0 AND CASE kind WHEN 'authorization' THEN raised + (amount + raised) / 5 ELSE 0 END);
-- True after the last capture, which releases the rest.
ALTER TABLE entry ADD COLUMN finished INTEGER NOT NULL DEFAULT 0;
