-- Review decisions are sent to the running server, so requests are no longer rows. The function of this migration writes
-- an entry in the audit log for each request that waits, and then drops the table.
DROP INDEX review_request_open;
