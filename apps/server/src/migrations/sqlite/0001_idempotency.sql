-- Answers that were given under an Idempotency-Key, so that a repeat gets the first one. Kept 7 days.
CREATE TABLE idempotency (
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  -- Method and path pattern: one key means one operation, so another route under it is a conflict.
  route TEXT NOT NULL,
  payload_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  -- The answer as it was sent; sealed where it holds a secret.
  body TEXT NOT NULL,
  -- What it made: when that is deleted, nothing of it stays here either.
  thing TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (user_id, key)
) STRICT;
CREATE INDEX idempotency_by_age ON idempotency (created_at_ms);
CREATE INDEX idempotency_by_thing ON idempotency (thing);
