-- Refunds that wait for a second person, and those that were decided. `amount` and `sum` are in hundredths; `sum` is what the
-- order had been refunded in all with it. `form` is the key of the form, so that a form that is sent twice asks once.
-- `outcome` is the reason of a refusal, or the result of the refund.
CREATE TABLE approval (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL, payment TEXT NOT NULL, reversal INTEGER NOT NULL, amount INTEGER NOT NULL,
    sum INTEGER NOT NULL, currency TEXT NOT NULL, asker TEXT NOT NULL, form TEXT NOT NULL, created INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'declined', 'withdrawn')), decider TEXT, decided INTEGER,
    outcome TEXT NOT NULL DEFAULT '', UNIQUE (asker, form)
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_entity ON approval (entity, state, created);
