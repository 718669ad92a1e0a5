-- Comments of users on payments. `number` counts the comments of a payment. `key` is that of the form, so that a form which is
-- sent twice writes one comment. `written` is by the clock of the payment's entity.
CREATE TABLE payment_comment (
    payment TEXT NOT NULL, number INTEGER NOT NULL, entity TEXT NOT NULL, user TEXT NOT NULL REFERENCES user (id),
    written INTEGER NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (payment, number), UNIQUE (payment, key)
) STRICT, WITHOUT ROWID;
