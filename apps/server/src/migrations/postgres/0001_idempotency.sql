-- PostgreSQL. The same tables as in ../sqlite, where the columns are explained; a test compares the two. Texts sort by their
-- bytes (COLLATE "C"), as they do there; flags are 0 and 1.
CREATE TABLE idempotency (
  user_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  route text COLLATE "C" NOT NULL,
  payload_hash text COLLATE "C" NOT NULL,
  status integer NOT NULL,
  body text COLLATE "C" NOT NULL,
  thing text COLLATE "C" NOT NULL,
  created_at_ms bigint NOT NULL,
  PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at_ms);
CREATE INDEX idempotency_by_thing ON idempotency (thing);
