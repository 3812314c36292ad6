-- The whole contract: priorities and weights, schedules, paid steps, pauses, spacing by key, progress, pruning.
--
-- A job's row is its newest attempt as well ("worker", "started_at_ms"): it moves to job_attempts only when it has
-- ended and the job goes on, so a job that succeeds at once costs one update to claim and one to publish.
-- "seq" is the row's place in the file, in the order of submission whatever the ids look like. With the id as the
-- primary key random ids would cost a page each, four times as much at a million jobs.
CREATE TABLE jobs_next (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  state TEXT NOT NULL,
  hold INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  key TEXT,
  run_at_ms INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  lease_until_ms INTEGER,
  worker TEXT,
  started_at_ms INTEGER,
  submitted_at_ms INTEGER NOT NULL,
  deadline_ms INTEGER NOT NULL,
  deadline_at_ms INTEGER NOT NULL,
  finished_at_ms INTEGER,
  last_error TEXT,
  subject TEXT,
  subject_version INTEGER,
  operation_id TEXT,
  progress TEXT,
  result TEXT,
  payload TEXT NOT NULL
) STRICT;

-- An attempt stays in the job's row if it is still open, or if it ended as the job did.
INSERT INTO jobs_next (id, kind, tenant, state, hold, priority, rank, key, run_at_ms, attempt, epoch, generation,
    lease_until_ms, worker, started_at_ms, submitted_at_ms, deadline_ms, deadline_at_ms, finished_at_ms, last_error,
    subject, subject_version, operation_id, result, payload)
  SELECT j.id, j.kind, j.tenant, j.state, j.hold, 0, j.rank * 1000, j.key, j.run_at_ms, j.attempt, j.epoch,
    j.generation, j.lease_until_ms, a.worker, a.started_at_ms, j.submitted_at_ms, j.deadline_ms, j.deadline_at_ms,
    j.finished_at_ms, j.last_error, j.subject, j.subject_version,
    (SELECT o.operation_id FROM job_operations o WHERE o.job_id = j.id), j.result, j.payload
  FROM jobs j LEFT JOIN job_attempts a ON a.job_id = j.id AND a.epoch = j.epoch AND (
    (j.state = 'running' AND a.ended_at_ms IS NULL)
    OR (a.outcome = j.state AND a.ended_at_ms = j.finished_at_ms AND a.error IS j.last_error))
  ORDER BY j.id;
DELETE FROM job_attempts WHERE EXISTS (SELECT 1 FROM jobs_next n
  WHERE n.id = job_attempts.job_id AND n.epoch = job_attempts.epoch AND n.worker IS NOT NULL);
DROP TABLE jobs;
ALTER TABLE jobs_next RENAME TO jobs;

-- "hold" says why a ready job is not claimable: 0 it is, 1 until run_at_ms, 2 until its key has room or its time has
-- come. Each index covers one such queue of a kind and nothing else, so a claim costs the same whatever waits,
-- whatever other kinds wait for, and whatever is done.
CREATE INDEX jobs_claimable ON jobs (kind, priority, rank, id, run_at_ms) WHERE state = 'ready' AND hold = 0;
CREATE INDEX jobs_held_until ON jobs (kind, run_at_ms, id) WHERE state = 'ready' AND hold = 1;
CREATE INDEX jobs_held_by_key ON jobs (kind, key, priority, rank, id, run_at_ms) WHERE state = 'ready' AND hold = 2;
CREATE INDEX jobs_leased ON jobs (kind, lease_until_ms) WHERE state = 'running';
CREATE INDEX jobs_running_by_key ON jobs (kind, key) WHERE state = 'running' AND key IS NOT NULL;
CREATE INDEX jobs_by_subject ON jobs (subject) WHERE subject IS NOT NULL;
CREATE INDEX jobs_finished ON jobs (finished_at_ms) WHERE finished_at_ms IS NOT NULL AND state <> 'dead';
-- What people look for among a million that succeeded. Not "state IN (...)": SQLite would build that list anew for each
-- row that any update touches, at the price of a whole claim.
CREATE INDEX jobs_not_well ON jobs (state, id) WHERE finished_at_ms IS NOT NULL AND state <> 'succeeded';

-- What makes a repeated submission harmless (J5). Operation ids may be random: the row stands in the order of time
-- ("seq"), and only tenant and id in the order of ids: a random one touches a small entry and moves no long row about.
-- "state": how a job that is pruned had ended, for the repeats of its submission.
CREATE TABLE job_operations_next (
  seq INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  payload_hash TEXT NOT NULL,
  job_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  state TEXT,
  UNIQUE (tenant, operation_id)
) STRICT;
INSERT INTO job_operations_next (tenant, operation_id, payload_hash, job_id, created_at_ms)
  SELECT tenant, operation_id, payload_hash, job_id, created_at_ms FROM job_operations ORDER BY created_at_ms;
DROP TABLE job_operations;
ALTER TABLE job_operations_next RENAME TO job_operations;
CREATE INDEX job_operations_by_age ON job_operations (created_at_ms);

-- What is added up, all in one table: a submission changes a few of these rows, and would write a page for each table
-- that they stood in. "whose" is a kind, but for lines and times:
--   the name of a state   how many jobs of the kind are in it now
--   'line'                a tenant's line in a priority: its pending jobs, the rank of its newest one, and the tenant's
--                         weight, the same in all of its lines
--   'time'                of a priority: the highest rank that was claimed, the virtual time
--   another name          a total for all processes, over restarts
CREATE TABLE job_counters (
  name TEXT NOT NULL,
  whose TEXT NOT NULL,
  priority INTEGER NOT NULL,
  value INTEGER NOT NULL,
  rank INTEGER,
  weight REAL,
  PRIMARY KEY (name, whose, priority)
) STRICT, WITHOUT ROWID;
INSERT INTO job_counters SELECT 'line', tenant, 0, pending, last_rank * 1000, 1.0 FROM job_tenants;
INSERT INTO job_counters SELECT 'time', '', 0, 0, virtual_time * 1000, NULL FROM job_queue WHERE virtual_time > 0;
INSERT INTO job_counters SELECT name, kind, 0, value, NULL, NULL FROM job_totals;
INSERT INTO job_counters SELECT state, kind, 0, count(*), NULL, NULL FROM jobs GROUP BY state, kind;
DROP TABLE job_tenants;
DROP TABLE job_queue;
DROP TABLE job_totals;

-- Kinds that are paused.
CREATE TABLE job_kinds (
  kind TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  until_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Before when no further job of a key starts. Gone when that instant is over.
CREATE TABLE job_keys (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  next_at_ms INTEGER NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_keys_by_time ON job_keys (kind, next_at_ms);

CREATE TABLE job_schedules (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  tenant TEXT NOT NULL,
  payload TEXT NOT NULL,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  missed TEXT NOT NULL,
  key TEXT,
  priority INTEGER,
  deadline_ms INTEGER NOT NULL,
  next_at_ms INTEGER NOT NULL,
  last_fired_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX job_schedules_by_time ON job_schedules (kind, next_at_ms);

-- Durable parts of jobs. No foreign key: paid results are kept longer than their jobs.
CREATE TABLE job_steps (
  job_id TEXT NOT NULL,
  name TEXT NOT NULL,
  tenant TEXT NOT NULL,
  state TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  allowance TEXT,
  period TEXT,
  provider_id TEXT,
  result TEXT,
  uses INTEGER NOT NULL,
  opened_at_ms INTEGER NOT NULL,
  changed_at_ms INTEGER NOT NULL,
  PRIMARY KEY (job_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_steps_by_age ON job_steps (changed_at_ms);

-- What a tenant has used of an allowance in a period. To remove a job or its steps gives nothing back.
CREATE TABLE job_allowances (
  tenant TEXT NOT NULL,
  allowance TEXT NOT NULL,
  period TEXT NOT NULL,
  used INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  unknown INTEGER NOT NULL,
  PRIMARY KEY (tenant, allowance, period)
) STRICT, WITHOUT ROWID;
