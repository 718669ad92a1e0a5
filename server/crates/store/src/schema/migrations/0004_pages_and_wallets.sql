-- The payments of shoppers' pages; wallet keys, with the private half sealed; and the used wallet tokens until they
-- expire.
CREATE TABLE payment_page (payment TEXT PRIMARY KEY, entity TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE wallet_key (
    entity TEXT NOT NULL REFERENCES entity (id), id TEXT NOT NULL, public BLOB NOT NULL, sealed BLOB NOT NULL,
    created INTEGER NOT NULL, PRIMARY KEY (entity, id)
) WITHOUT ROWID;
CREATE TABLE wallet_token (
    until INTEGER NOT NULL, entity TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (until, entity, id)
) WITHOUT ROWID;
