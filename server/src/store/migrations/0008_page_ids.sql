-- A page has an id of its own: whoever knows it decides about the payment, whose id many know.
CREATE TABLE page (id TEXT PRIMARY KEY, entity TEXT NOT NULL, payment TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO page SELECT payment, entity, payment FROM payment_page ORDER BY payment;
DROP TABLE payment_page;
