/**
 * The statements of the SQLite store, in the order of the contract's methods. One writer at a time (BEGIN
 * IMMEDIATE, group commit), so what is read inside a transaction still holds when it writes: no SKIP LOCKED, no
 * row locks. Every write after a claim carries the epoch and the lease in its own WHERE all the same, since the
 * claimer may have been asleep for an hour.
 */
const COLUMNS = `id, kind, tenant, payload, subject, subject_version, key, state, rank, run_at_ms, attempt, epoch,
  generation, lease_until_ms, submitted_at_ms, deadline_at_ms, finished_at_ms, last_error, result`

// submit
export const OPERATION =
  'SELECT payload_hash, job_id FROM job_operations WHERE tenant = ? AND operation_id = ?'
export const REMEMBER_OPERATION = 'INSERT INTO job_operations VALUES (?, ?, ?, ?, ?)'
export const BACKLOG = `SELECT q.pending AS total, q.virtual_time AS virtualTime,
  coalesce(t.pending, 0) AS tenant, coalesce(t.last_rank, 0) AS lastRank
  FROM job_queue q LEFT JOIN job_tenants t ON t.tenant = ?`
export const TENANT_GAINS = `INSERT INTO job_tenants VALUES (?, 1, ?)
  ON CONFLICT (tenant) DO UPDATE SET pending = pending + 1, last_rank = excluded.last_rank`
export const QUEUE_GAINS = 'UPDATE job_queue SET pending = pending + 1'
export const INSERT = `INSERT INTO jobs (id, kind, tenant, payload, subject, subject_version, key, state, hold, rank,
  run_at_ms, attempt, epoch, generation, submitted_at_ms, deadline_ms, deadline_at_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, 'ready', ?, ?, ?, 0, 0, 1, ?, ?, ?)`

// claim
export const LEASES_OVER = `SELECT id, kind, key, epoch FROM jobs
  WHERE state = 'running' AND lease_until_ms <= ? ORDER BY lease_until_ms LIMIT 500`
export const LEASE_OVER = `UPDATE jobs SET state = 'ready', hold = 0, lease_until_ms = NULL, rank = max(rank, ?),
  last_error = 'lease_expired' WHERE id = ? AND epoch = ? AND state = 'running'`
// The rank is returningRank of rank.ts, with its place among the tenant's jobs that come back together.
export const RELEASE_DUE = `UPDATE jobs SET hold = 0, rank = max(rank, ? + due.place) FROM
  (SELECT id, row_number() OVER (PARTITION BY tenant ORDER BY run_at_ms, id) AS place FROM
    (SELECT id, tenant, run_at_ms FROM jobs WHERE state = 'ready' AND hold = 1 AND run_at_ms <= ?
      ORDER BY run_at_ms, id LIMIT 500)) AS due
  WHERE jobs.id = due.id`
export const CLAIMABLE = `SELECT id, kind, key, rank FROM jobs WHERE state = 'ready' AND hold = 0
  AND kind IN (SELECT value FROM json_each(?)) ORDER BY rank, id LIMIT ?`
export const RUNNING_OF_KEY = `SELECT count(*) AS n FROM jobs WHERE state = 'running' AND kind = ? AND key = ?`
export const HOLD_BY_KEY = `UPDATE jobs SET hold = 2 WHERE id = ? AND state = 'ready' AND hold = 0`
export const CLAIM = `UPDATE jobs SET state = 'running', lease_until_ms = ?, epoch = epoch + 1, attempt = attempt + 1
  WHERE id = ? AND state = 'ready' AND hold = 0 RETURNING ${COLUMNS}`
export const ATTEMPT_STARTS = `INSERT INTO job_attempts (job_id, epoch, generation, attempt, worker, started_at_ms)
  VALUES (?, ?, ?, ?, ?, ?)`
export const VIRTUAL_TIME = 'SELECT virtual_time AS virtualTime FROM job_queue'
export const ADVANCE_VIRTUAL_TIME = 'UPDATE job_queue SET virtual_time = max(virtual_time, ?)'

// nextDueInMs
export const NEXT_DUE = `SELECT
  EXISTS (SELECT 1 FROM jobs WHERE state = 'ready' AND hold = 0) AS due,
  (SELECT min(run_at_ms) FROM jobs WHERE state = 'ready' AND hold = 1) AS heldUntilMs,
  (SELECT min(lease_until_ms) FROM jobs WHERE state = 'running') AS leaseUntilMs`

// heartbeat
export const EXTEND = `UPDATE jobs SET lease_until_ms = ?
  WHERE id = ? AND epoch = ? AND state = 'running' AND lease_until_ms > ?`

// publish
export const STANDING = `SELECT state, epoch, lease_until_ms AS leaseUntilMs,
  (SELECT outcome FROM job_attempts WHERE job_id = jobs.id AND epoch = ?) AS outcome FROM jobs WHERE id = ?`
export const END = `UPDATE jobs SET state = ?, lease_until_ms = NULL, finished_at_ms = ?, last_error = ?, result = ?
  WHERE id = ? AND epoch = ? AND state = 'running' AND lease_until_ms > ?`
export const BACK = `UPDATE jobs SET state = 'ready', hold = ?, lease_until_ms = NULL, run_at_ms = ?,
  attempt = attempt - ?, last_error = coalesce(?, last_error), rank = max(rank, ?)
  WHERE id = ? AND epoch = ? AND state = 'running' AND lease_until_ms > ?`
export const ATTEMPT_ENDS = `UPDATE job_attempts SET ended_at_ms = ?, outcome = ?, error = ?
  WHERE job_id = ? AND epoch = ? AND ended_at_ms IS NULL`
export const FREE_KEY = `UPDATE jobs SET hold = 0 WHERE id = (SELECT id FROM jobs
  WHERE state = 'ready' AND hold = 2 AND kind = ? AND key = ? ORDER BY rank, id LIMIT 1)`
export const TENANT_LOSES = 'UPDATE job_tenants SET pending = pending - 1 WHERE tenant = ?'
export const QUEUE_LOSES = 'UPDATE job_queue SET pending = pending - 1'
export const TOTAL = `INSERT INTO job_totals VALUES (?, ?, 1)
  ON CONFLICT (kind, name) DO UPDATE SET value = value + 1`

// supersede, forget, forgetTenant
export const PENDING_OF_SUBJECT = `SELECT id, kind, tenant, key, state, epoch FROM jobs
  WHERE subject = ? AND subject_version < ? AND state IN ('ready', 'running')`
export const ALL_OF_SUBJECT = 'SELECT id, kind, tenant, key, state, epoch FROM jobs WHERE subject = ?'
export const GIVEN_UP_OF_TENANT = `SELECT id, kind, tenant, key, state, epoch FROM jobs
  WHERE tenant = ? AND state IN ('ready', 'running', 'dead')`
export const END_UNCLAIMED = `UPDATE jobs SET state = ?, hold = 0, lease_until_ms = NULL, finished_at_ms = ?,
  last_error = coalesce(?, last_error) WHERE id = ?`
export const DELETE = 'DELETE FROM jobs WHERE id = ?'
export const DELETE_ATTEMPTS = 'DELETE FROM job_attempts WHERE job_id = ?'
export const DELETE_OPERATIONS = 'DELETE FROM job_operations WHERE job_id = ?'

// repair, discard
export const ONE = `SELECT ${COLUMNS} FROM jobs WHERE id = ?`
export const MAKE_DUE = `UPDATE jobs SET hold = CASE hold WHEN 1 THEN 0 ELSE hold END, run_at_ms = ?
  WHERE id = ? AND state = 'ready'`
export const NEW_GENERATION = `UPDATE jobs SET state = 'ready', hold = 0, generation = generation + 1, attempt = 0,
  rank = ?, run_at_ms = ?, deadline_at_ms = ? + deadline_ms, finished_at_ms = NULL WHERE id = ?`

// get, list, counts, totals
export const ATTEMPTS = `SELECT generation, attempt, epoch, worker, started_at_ms AS startedAtMs,
  ended_at_ms AS endedAtMs, outcome, error FROM job_attempts WHERE job_id = ? ORDER BY epoch`
export const LIST = `SELECT ${COLUMNS} FROM jobs WHERE (? IS NULL OR state = ?) AND (? IS NULL OR kind = ?)
  AND (? IS NULL OR id < ?) ORDER BY id DESC LIMIT ?`
export const COUNTS = `SELECT kind, state, count(*) AS count, ? - min(CASE WHEN state = 'ready' AND run_at_ms <= ?
  THEN run_at_ms END) AS oldestDueMs FROM jobs GROUP BY kind, state ORDER BY kind, state`
export const TOTALS = 'SELECT kind, name, value FROM job_totals ORDER BY kind, name'

// sweep
export const SWEEP_OPERATIONS = `DELETE FROM job_operations WHERE created_at_ms < ?`
