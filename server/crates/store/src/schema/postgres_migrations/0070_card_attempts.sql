-- Records of the attempts on declined cards. The name is a hash of merchant, card and amount, so that a copy of the store
-- does not show which payments have the same card.
CREATE TABLE card_attempt (name bytea PRIMARY KEY, purge_at bigint NOT NULL, history bytea NOT NULL);
CREATE INDEX card_attempt_purge ON card_attempt (purge_at);
