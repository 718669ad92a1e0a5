-- Lists that users keep. `query` is that of the list's address, as the filter of the list writes it.
CREATE TABLE saved_view (
    user TEXT NOT NULL REFERENCES user (id), name TEXT NOT NULL, query TEXT NOT NULL, PRIMARY KEY (user, name)
) STRICT, WITHOUT ROWID;
