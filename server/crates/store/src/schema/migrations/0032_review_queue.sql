-- Reviews that have ended, in the order of the queue.
CREATE INDEX review_ended ON review (entity, since) WHERE ended IS NOT NULL;
-- Decisions that the command line requests and a running gateway carries out, one for each payment. `document` is the
-- request, `answer` what came of it. `at` and `answered` are by the clock of the machine, in ms.
CREATE TABLE review_request (
    payment TEXT PRIMARY KEY REFERENCES review (payment), document TEXT NOT NULL, at INTEGER NOT NULL,
    answered INTEGER, answer TEXT
) WITHOUT ROWID;
CREATE INDEX review_request_open ON review_request (at) WHERE answered IS NULL;
-- Tokens with every scope also have the new one.
UPDATE token SET scopes = scopes || ',review' WHERE scopes = 'read,pay,refund,admin';
