-- Users of the FTP server. The hash is Argon2id of the password with the salt.
CREATE TABLE ftp_user (
    name TEXT PRIMARY KEY, entity TEXT NOT NULL REFERENCES entity (id), salt BLOB NOT NULL, hash BLOB NOT NULL,
    created INTEGER NOT NULL, revoked INTEGER
) WITHOUT ROWID;
