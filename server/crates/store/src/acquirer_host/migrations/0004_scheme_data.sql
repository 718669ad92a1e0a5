-- JSON: the text on the statement, and the data of the request for the schemes.
ALTER TABLE entry ADD COLUMN scheme_data TEXT;
