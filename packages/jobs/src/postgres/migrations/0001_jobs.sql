-- One table is the queue and the record. Instants are Unix ms. Names sort by their bytes (COLLATE "C"), as they do in
-- the other stores.
-- "hold" says why a ready job is not claimable: 0 it is, 1 until a claim after run_at_ms gives it a new rank, 2 until its
-- key has room. Each index below
-- covers one such queue of each kind and nothing else, so a claim costs the same whatever waits and whatever is done.
-- The newest attempt is in the job's own row (worker, started_at_ms; how it ended is how the job did), so that a job
-- that succeeds at once costs two updates and no row more.
CREATE TABLE jobs (
  rank bigint NOT NULL,
  run_at_ms bigint NOT NULL,
  submitted_at_ms bigint NOT NULL,
  deadline_ms bigint NOT NULL,
  deadline_at_ms bigint NOT NULL,
  epoch bigint NOT NULL DEFAULT 0,
  subject_version bigint,
  lease_until_ms bigint,
  started_at_ms bigint,
  finished_at_ms bigint,
  attempt integer NOT NULL DEFAULT 0,
  generation integer NOT NULL DEFAULT 1,
  priority smallint NOT NULL,
  hold smallint NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'ready',
  id text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  key text COLLATE "C",
  subject text COLLATE "C",
  operation_id text COLLATE "C",
  worker text,
  last_error text,
  payload text NOT NULL,
  result text,
  progress text
) WITH (
  -- A claimed job leaves a dead entry at the head of jobs_claimable. By the defaults a table of a million jobs would be
  -- vacuumed after 200,000 of them.
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 5000,
  vacuum_index_cleanup = on
);
CREATE INDEX jobs_claimable ON jobs (kind, priority, rank, id) WHERE state = 'ready' AND hold = 0;
CREATE INDEX jobs_held_until ON jobs (kind, run_at_ms) WHERE state = 'ready' AND hold = 1;
CREATE INDEX jobs_held_by_key ON jobs (kind, key, priority, rank, id) WHERE state = 'ready' AND hold = 2;
CREATE INDEX jobs_leased ON jobs (kind, lease_until_ms) WHERE state = 'running';
CREATE INDEX jobs_running_by_key ON jobs (kind, key) WHERE state = 'running' AND key IS NOT NULL;
CREATE INDEX jobs_by_subject ON jobs (subject) WHERE subject IS NOT NULL;
CREATE INDEX jobs_finished ON jobs (finished_at_ms) WHERE finished_at_ms IS NOT NULL AND state <> 'dead';

-- Tries that have ended without ending the job, or in an earlier life of it. One row per epoch, since an epoch is one
-- claim.
CREATE TABLE job_attempts (
  job_id text COLLATE "C" NOT NULL,
  epoch bigint NOT NULL,
  generation integer NOT NULL,
  attempt integer NOT NULL,
  worker text NOT NULL,
  started_at_ms bigint NOT NULL,
  ended_at_ms bigint NOT NULL,
  outcome text NOT NULL,
  error text,
  PRIMARY KEY (job_id, epoch)
);

-- What makes a repeated submission harmless (J5). "state" is the one that a job ended in that is gone.
CREATE TABLE job_operations (
  created_at_ms bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  payload_hash text NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  state text,
  PRIMARY KEY (tenant, operation_id)
);
CREATE INDEX job_operations_by_age ON job_operations (created_at_ms);

-- Durable parts of jobs and what they were paid from (J7). They outlive their jobs: a paid result is kept, and deleting
-- a job gives no money back. So no foreign keys.
CREATE TABLE job_steps (
  job_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  state text NOT NULL,
  epoch bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  allowance text COLLATE "C",
  period text COLLATE "C",
  provider_id text,
  result text,
  uses integer NOT NULL,
  opened_at_ms bigint NOT NULL,
  changed_at_ms bigint NOT NULL,
  PRIMARY KEY (job_id, name)
);
CREATE INDEX job_steps_by_age ON job_steps (changed_at_ms);
CREATE TABLE job_allowances (
  tenant text COLLATE "C" NOT NULL,
  allowance text COLLATE "C" NOT NULL,
  period text COLLATE "C" NOT NULL,
  used bigint NOT NULL DEFAULT 0,
  reserved bigint NOT NULL DEFAULT 0,
  unknown bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, allowance, period)
);

CREATE TABLE job_schedules (
  name text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  cron text NOT NULL,
  zone text NOT NULL,
  missed text NOT NULL,
  key text COLLATE "C",
  priority smallint,
  deadline_ms bigint NOT NULL,
  next_at_ms bigint NOT NULL,
  last_fired_at_ms bigint
);
CREATE INDEX job_schedules_due ON job_schedules (kind, next_at_ms);

-- The kinds that are paused.
CREATE TABLE job_kinds (
  kind text COLLATE "C" PRIMARY KEY,
  reason text NOT NULL,
  since_ms bigint NOT NULL,
  until_ms bigint
);

-- Fair order (rank.ts). Each priority has its virtual time; only claims write it. A tenant's last rank of priority 0
-- stands with the tenant, those of the other priorities by themselves.
CREATE TABLE job_clock (
  priority smallint PRIMARY KEY,
  virtual_time bigint NOT NULL
) WITH (fillfactor = 20);
INSERT INTO job_clock SELECT priority, 0 FROM generate_series(-100, 100) AS priority;
CREATE TABLE job_tenants (
  tenant text COLLATE "C" PRIMARY KEY,
  cost bigint NOT NULL DEFAULT 1000,
  entered bigint NOT NULL DEFAULT 0,
  left_seen bigint NOT NULL DEFAULT 0,
  last_rank bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE job_ranks (
  tenant text COLLATE "C" NOT NULL,
  priority smallint NOT NULL,
  last_rank bigint NOT NULL,
  PRIMARY KEY (tenant, priority)
);

-- Where the jobs that wait begin, for each kind and priority: those of lower rank have been taken. They leave dead entries
-- in jobs_claimable until a vacuum, and to walk past 100,000 of them takes as long as to claim 100 jobs. Only a hint: it is
-- trusted for a second, then, or when one finds nothing, a claim looks from the very beginning. A job that is behind the
-- head, because its submission committed late, waits for that.
CREATE TABLE job_heads (
  kind text COLLATE "C" NOT NULL,
  priority smallint NOT NULL,
  rank bigint NOT NULL,
  trusted_until_ms bigint NOT NULL,
  PRIMARY KEY (kind, priority)
) WITH (fillfactor = 20);

-- Bounds (J8). A tenant's pending jobs are those that entered (one row, locked by whoever submits) less those that left.
-- Who ends a job must never wait for somebody's open submission, so what left is kept in as many rows as have ever been
-- written at once: take one that nobody holds, or add one. "left_seen" is how many had left when a submission last
-- looked: while that is room enough, none looks again.
CREATE TABLE job_leavers (
  tenant text COLLATE "C" NOT NULL,
  row integer NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tenant, row)
) WITH (fillfactor = 50);
-- The bound in total is cut into 16 slots, so that 16 submissions may be open at once; their sum is exact. Whoever
-- submits takes a slot with room that nobody holds; whoever ends a job gives back to any, or to an extra one (from 16
-- on) that has no room of its own. 16, not 4: an application's transactions hold their slot until they commit.
CREATE TABLE job_slots (
  slot integer PRIMARY KEY,
  pending integer NOT NULL
) WITH (fillfactor = 20);
INSERT INTO job_slots SELECT slot, 0 FROM generate_series(0, 15) AS slot;

-- Lifetime totals, kept in as many rows as have ever been written at once.
CREATE TABLE job_totals (
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  row integer NOT NULL,
  value bigint NOT NULL,
  PRIMARY KEY (kind, name, row)
) WITH (fillfactor = 50);

-- What is known of keys with a limit: whether jobs are put aside for it (hold 2), when to look at them again (null: when
-- one of its jobs has left), and the earliest next start. Written by claims alone, which take turns for such a kind.
-- Whoever ends a job leaves a note in job_freed and waits for nobody.
CREATE TABLE job_keys (
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  is_held boolean NOT NULL,
  due_at_ms bigint,
  next_at_ms bigint NOT NULL,
  PRIMARY KEY (kind, key)
) WITH (fillfactor = 50);
CREATE INDEX job_keys_due ON job_keys (kind, due_at_ms) WHERE due_at_ms IS NOT NULL;
CREATE INDEX job_keys_held ON job_keys (kind) WHERE is_held;
CREATE TABLE job_freed (
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL
);
CREATE INDEX job_freed_by_key ON job_freed (kind, key);

-- Workers that sleep, and until when: only for them work is announced. Lost with a crash of the server, which is as
-- well, since they are then polling anyway.
CREATE UNLOGGED TABLE job_resting (
  worker text PRIMARY KEY,
  until_ms bigint NOT NULL
);
