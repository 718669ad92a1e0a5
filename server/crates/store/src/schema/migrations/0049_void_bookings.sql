-- The journal up to this entry may book reversals of payments that were never booked. The program corrects them when the
-- gateway starts, and deletes the row.
CREATE TABLE booking_check (id INTEGER PRIMARY KEY CHECK (id = 1), until INTEGER NOT NULL) STRICT;
INSERT INTO booking_check (id, until) SELECT 1, max(number) FROM audit_entry HAVING max(number) IS NOT NULL;
