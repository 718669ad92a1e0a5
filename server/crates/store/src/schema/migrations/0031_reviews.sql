-- Held payments and those that were. `since` and `ended` are by the clock of the machine, in ms.
CREATE TABLE review (
    payment TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id),
    since INTEGER NOT NULL, ended INTEGER, analyst TEXT, claimed INTEGER
) WITHOUT ROWID;
CREATE INDEX review_open ON review (entity, since) WHERE ended IS NULL;
-- What was done with them, and by whom. `action` is claim, release, note, pend, approve, cancel or expire.
CREATE TABLE review_action (
    number INTEGER PRIMARY KEY, payment TEXT NOT NULL REFERENCES review (payment), at INTEGER NOT NULL,
    action TEXT NOT NULL, analyst TEXT NOT NULL, reason INTEGER, note TEXT
);
CREATE INDEX review_action_payment ON review_action (payment, number);
