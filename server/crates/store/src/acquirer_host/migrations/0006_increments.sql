-- What increments add to the amount of an authorization, and the part of it that is captured. The other part of the
-- captured amount is in used.
ALTER TABLE entry ADD COLUMN raised INTEGER NOT NULL DEFAULT 0 CHECK (raised >= 0);
ALTER TABLE entry ADD COLUMN used_raised INTEGER NOT NULL DEFAULT 0 CHECK (used_raised BETWEEN 0 AND raised);
