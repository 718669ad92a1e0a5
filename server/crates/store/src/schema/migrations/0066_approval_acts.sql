-- Acts of several kinds that wait for a second person, and those that were decided. `act` is JSON with exactly what the
-- act will do, in the form of its kind, and has no secret. `form` is the key of the form, so that a form that is sent
-- twice asks once. `outcome` is the reason of a refusal, or the result of the act.
ALTER TABLE approval RENAME TO approval_of_refunds;
DROP INDEX approval_entity;
CREATE TABLE approval (
    id TEXT PRIMARY KEY, entity TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('refund', 'rules', 'credential', 'receiver')), act TEXT NOT NULL,
    asker TEXT NOT NULL, form TEXT NOT NULL, created INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'approved', 'used', 'declined', 'withdrawn')), decider TEXT,
    decided INTEGER, outcome TEXT NOT NULL DEFAULT '', UNIQUE (asker, form)
) STRICT, WITHOUT ROWID;
INSERT INTO approval SELECT id, entity, 'refund',
    json_object('payment', payment, 'reversal', json(iif(reversal, 'true', 'false')), 'amount', amount, 'sum', sum,
        'currency', currency),
    asker, form, created, state, decider, decided, outcome FROM approval_of_refunds;
DROP TABLE approval_of_refunds;
CREATE INDEX approval_entity ON approval (entity, kind, state, created);
CREATE INDEX approval_latest ON approval (entity, kind, created);
