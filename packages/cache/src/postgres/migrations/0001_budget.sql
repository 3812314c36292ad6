-- The fleet's origin budget. Times are in ms by the ledger's own time (time_ms), which follows the database's clock
-- with bounded steps; only seen_at_ms is Unix ms.
CREATE TABLE origin_budgets (
  name TEXT PRIMARY KEY,
  rate BIGINT NOT NULL,
  concurrency BIGINT NOT NULL,
  load_max_ms BIGINT NOT NULL,
  time_ms BIGINT NOT NULL,
  seen_at_ms BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  timeline TEXT NOT NULL,
  learning_until_ms BIGINT NOT NULL
);

-- Every grant that its holder may still act on, or has acted on within the last second. Some rows per instance.
CREATE TABLE origin_grants (
  budget TEXT NOT NULL,
  generation BIGINT NOT NULL,
  incarnation TEXT NOT NULL,
  holder TEXT NOT NULL,
  rate BIGINT NOT NULL,
  concurrency BIGINT NOT NULL,
  want_rate BIGINT NOT NULL,
  want_concurrency BIGINT NOT NULL,
  expires_at_ms BIGINT NOT NULL,
  rate_until_ms BIGINT NOT NULL,
  in_flight_until_ms BIGINT NOT NULL,
  PRIMARY KEY (budget, generation)
);
