-- A page has a random id of its own, because its id allows a decision on the payment, and the payment's id is known to
-- others.
CREATE TABLE page (id TEXT PRIMARY KEY, entity TEXT NOT NULL, payment TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO page SELECT payment, entity, payment FROM payment_page ORDER BY payment;
DROP TABLE payment_page;
