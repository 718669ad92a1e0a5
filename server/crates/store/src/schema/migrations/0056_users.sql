-- Users of the back office. `mail` is in the one spelling that is compared. `salt` and `hash` are those of the password
-- (Argon2id), empty until an invitation is accepted. `sealed` is the secret of the one-time codes, `step` the latest step that
-- was used. `recovery` has the SHA-256 hashes of the unused recovery codes, one after the other. `failures` counts the wrong
-- second factors since the last right one. `epoch` counts the changes that end the marks of known browsers.
CREATE TABLE user (
    id TEXT PRIMARY KEY, mail TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('invited', 'active', 'disabled')), created INTEGER NOT NULL,
    salt BLOB NOT NULL DEFAULT x'', hash BLOB NOT NULL DEFAULT x'', sealed BLOB NOT NULL DEFAULT x'', step INTEGER,
    recovery BLOB NOT NULL DEFAULT x'', failures INTEGER NOT NULL DEFAULT 0, failed INTEGER,
    epoch INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TRIGGER user_key BEFORE INSERT ON user
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
CREATE TRIGGER user_next_key BEFORE UPDATE OF sealed ON user
    WHEN EXISTS (SELECT 1 FROM vault_key WHERE id = substr(NEW.sealed, 2, 4) AND retired IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a record is sealed under a retired key of the vault'); END;
-- Roles of users. `reach` is the id of an entity, below which the role holds, or '*' for the whole gateway.
CREATE TABLE user_role (
    user TEXT NOT NULL REFERENCES user (id), role TEXT NOT NULL, reach TEXT NOT NULL, PRIMARY KEY (user, role, reach)
) STRICT, WITHOUT ROWID;
-- Sessions of users. `hash` is the SHA-256 of the token in the browser's cookie. `confirmed` is the time of the second factor.
CREATE TABLE user_session (
    number INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, user TEXT NOT NULL REFERENCES user (id),
    created INTEGER NOT NULL, used INTEGER NOT NULL, confirmed INTEGER, ended INTEGER, address TEXT NOT NULL,
    agent TEXT NOT NULL
) STRICT;
CREATE INDEX user_session_user ON user_session (user, ended);
-- Invitations of users. `hash` is the SHA-256 of the token in the link. `inviter` is the user who made it, NULL for a command.
CREATE TABLE user_invitation (
    hash BLOB PRIMARY KEY, user TEXT NOT NULL REFERENCES user (id), created INTEGER NOT NULL, expires INTEGER NOT NULL,
    used INTEGER, inviter TEXT REFERENCES user (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_invitation_inviter ON user_invitation (inviter, used);
CREATE INDEX user_invitation_user ON user_invitation (user, used);
