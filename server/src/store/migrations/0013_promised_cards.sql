-- A payment whose cardholder is being authenticated needs its card once more.
ALTER TABLE promise ADD COLUMN card BLOB;
