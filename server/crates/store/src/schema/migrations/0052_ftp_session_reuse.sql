-- 1 if data connections of the user have to resume the TLS session of the control connection.
ALTER TABLE ftp_user ADD COLUMN session_reuse INTEGER NOT NULL DEFAULT 1;
