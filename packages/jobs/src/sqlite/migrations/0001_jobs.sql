-- One table is the queue and the record. Instants are Unix ms.
-- "hold" says why a ready job is not claimable: 0 it is, 1 until run_at_ms, 2 until its key has room. Each index
-- below covers one such queue and nothing else, so a claim costs the same whatever waits and whatever is done.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  payload TEXT NOT NULL,
  subject TEXT,
  subject_version INTEGER,
  key TEXT,
  state TEXT NOT NULL,
  hold INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  run_at_ms INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  lease_until_ms INTEGER,
  submitted_at_ms INTEGER NOT NULL,
  deadline_ms INTEGER NOT NULL,
  deadline_at_ms INTEGER NOT NULL,
  finished_at_ms INTEGER,
  last_error TEXT,
  result TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_claimable ON jobs (rank, id, kind, key) WHERE state = 'ready' AND hold = 0;
CREATE INDEX jobs_held_until ON jobs (run_at_ms) WHERE state = 'ready' AND hold = 1;
CREATE INDEX jobs_held_by_key ON jobs (kind, key, rank) WHERE state = 'ready' AND hold = 2;
CREATE INDEX jobs_leased ON jobs (lease_until_ms) WHERE state = 'running';
CREATE INDEX jobs_running_by_key ON jobs (kind, key) WHERE state = 'running' AND key IS NOT NULL;
CREATE INDEX jobs_by_subject ON jobs (subject) WHERE subject IS NOT NULL;

-- Every try, for people to see. One row per epoch, since an epoch is one claim.
CREATE TABLE job_attempts (
  job_id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  worker TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,
  outcome TEXT,
  error TEXT,
  PRIMARY KEY (job_id, epoch)
) STRICT, WITHOUT ROWID;

-- What makes a repeated submission harmless (J5).
CREATE TABLE job_operations (
  tenant TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  payload_hash TEXT NOT NULL,
  job_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (tenant, operation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_operations_by_job ON job_operations (job_id);
CREATE INDEX job_operations_by_age ON job_operations (created_at_ms);

-- The bound and the fair order (J8). "pending" counts ready and running jobs.
CREATE TABLE job_tenants (
  tenant TEXT PRIMARY KEY,
  pending INTEGER NOT NULL,
  last_rank INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE job_queue (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  pending INTEGER NOT NULL,
  virtual_time INTEGER NOT NULL
) STRICT;
INSERT INTO job_queue VALUES (1, 0, 0);

-- Totals for all processes, over restarts: stale publications, retries, ends by state.
CREATE TABLE job_totals (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
