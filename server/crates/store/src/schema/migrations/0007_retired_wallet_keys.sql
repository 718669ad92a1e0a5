-- A wallet key may be retired.
ALTER TABLE wallet_key ADD COLUMN retired INTEGER;
