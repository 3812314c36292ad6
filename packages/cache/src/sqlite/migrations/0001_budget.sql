-- The fleet's origin budget. Times are in ms by the ledger's own time (time_ms), which follows the database's clock
-- with bounded steps; only seen_at_ms is Unix ms.
CREATE TABLE origin_budgets (
  name TEXT PRIMARY KEY,
  rate INTEGER NOT NULL,
  concurrency INTEGER NOT NULL,
  load_max_ms INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  timeline TEXT NOT NULL,
  learning_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Every grant that its holder may still act on, or has acted on within the last second. Some rows per instance.
CREATE TABLE origin_grants (
  budget TEXT NOT NULL,
  generation INTEGER NOT NULL,
  incarnation TEXT NOT NULL,
  holder TEXT NOT NULL,
  rate INTEGER NOT NULL,
  concurrency INTEGER NOT NULL,
  want_rate INTEGER NOT NULL,
  want_concurrency INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  rate_until_ms INTEGER NOT NULL,
  in_flight_until_ms INTEGER NOT NULL,
  PRIMARY KEY (budget, generation)
) STRICT, WITHOUT ROWID;
