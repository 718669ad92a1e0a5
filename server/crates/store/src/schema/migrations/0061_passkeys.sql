-- Passkeys of users. `credential` is the id that the authenticator has chosen, `host` the host for which the passkey was made,
-- and `key` the public key with its counter, as JSON. `used` is the time of the latest sign-in.
CREATE TABLE passkey (
    id TEXT PRIMARY KEY, user TEXT NOT NULL REFERENCES user (id), credential BLOB NOT NULL UNIQUE, host TEXT NOT NULL,
    name TEXT NOT NULL, key BLOB NOT NULL, created INTEGER NOT NULL, used INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_user ON passkey (user);
-- Challenges that wait for the answer of a passkey. `hash` is the SHA-256 of the token in the browser's cookie, `session` the
-- session that waits, NULL for a sign-in without a user name, and `name` that of the passkey to add. A row is used once.
CREATE TABLE passkey_challenge (
    hash BLOB PRIMARY KEY, purpose TEXT NOT NULL CHECK (purpose IN ('add', 'sign-in', 'factor')), session INTEGER,
    name TEXT NOT NULL, state BLOB NOT NULL, created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_challenge_created ON passkey_challenge (created);
CREATE INDEX passkey_challenge_session ON passkey_challenge (session) WHERE session IS NOT NULL;
