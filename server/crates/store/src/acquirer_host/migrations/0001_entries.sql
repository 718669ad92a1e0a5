CREATE TABLE entry (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, fingerprint BLOB, kind TEXT NOT NULL,
    merchant TEXT NOT NULL, payment TEXT NOT NULL, original INTEGER REFERENCES entry (number),
    amount INTEGER NOT NULL CHECK (amount >= 0), currency TEXT NOT NULL,
    used INTEGER NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND amount),
    approved INTEGER NOT NULL, reversed INTEGER NOT NULL, undecided INTEGER NOT NULL, code TEXT NOT NULL,
    avs TEXT, cvv TEXT, account TEXT, created INTEGER NOT NULL
) STRICT;
CREATE INDEX entry_payment ON entry (payment);
