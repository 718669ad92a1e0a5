-- Nothing reads the blind index of stored accounts: a registration is found by its id only. Beside the first and last digits
-- of a card, a MAC of its number is one more thing to protect.
DROP INDEX registration_account_blind;
ALTER TABLE registration_account DROP COLUMN blind;
ALTER TABLE promise DROP COLUMN blind;
