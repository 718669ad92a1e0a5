-- The time of the latest second factor in a session. Acts on other users and access tokens ask for a fresh one.
ALTER TABLE user_session ADD COLUMN factor INTEGER;
