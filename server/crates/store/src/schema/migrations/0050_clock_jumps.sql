-- Time that a sandbox clock has left out while a gateway was running, by that clock in milliseconds, until everything in
-- it has run.
CREATE TABLE clock_jump (
    clock TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL, PRIMARY KEY (clock, began)
) STRICT, WITHOUT ROWID;
