-- The sealed card of a payment whose cardholder is being authenticated, for the authorization afterwards.
ALTER TABLE promise ADD COLUMN card BLOB;
