import type { JobState } from '../job.ts'

/**
 * The statements of the SQLite store, in the order of the contract's methods. One writer at a time (BEGIN
 * IMMEDIATE, group commit), so what is read inside a transaction still holds when it writes: no SKIP LOCKED, no
 * row locks. Every write after a claim carries the epoch and the lease in its own WHERE all the same, since the
 * claimer may have been asleep for an hour.
 */

/** So many rows a statement at most: a quarter less than one by one; from 50 on nothing more is gained. */
export const ROWS_MAX = 20

/** A statement for each number of rows, its text made once. */
function ofRows(textOf: (rows: number) => string): (rows: number) => string {
  const texts: string[] = []
  return (rows) => {
    texts[rows] ??= textOf(rows)
    return texts[rows]
  }
}

function repeated(row: string, rows: number): string {
  return new Array(rows).fill(row).join(', ')
}

/** In the order of JobCells, by the names of JobRow (rows.ts). */
const COLUMNS = `seq, id, kind, tenant, payload, subject, subject_version AS subjectVersion, key, state, priority, rank,
  run_at_ms AS runAtMs, attempt, epoch, generation, lease_until_ms AS leaseUntilMs, submitted_at_ms AS submittedAtMs,
  deadline_at_ms AS deadlineAtMs, finished_at_ms AS finishedAtMs, last_error AS lastError, result, progress`
/** As Found (rows.ts). */
const FOUND = 'seq, id, kind, tenant, priority, key, state, epoch, operation_id AS operationId'
const CLAIMABLE = `state = 'ready' AND hold = 0`
const HELD_UNTIL = `state = 'ready' AND hold = 1`
const HELD_BY_KEY = `state = 'ready' AND hold = 2`
const NOT_WELL = `finished_at_ms IS NOT NULL AND state <> 'succeeded'`
const IN_LIST = 'IN (SELECT value FROM json_each(?))'
/** An attempt leaves its job's row for job_attempts: when it ended, how, and with what error follow. */
const FILE = 'INSERT INTO job_attempts SELECT id, epoch, generation, attempt, worker, started_at_ms,'
const STATES = `('ready', 'running', 'succeeded', 'superseded', 'degraded', 'dead', 'cancelled')`
/** As Total (ledger.ts). By name, not "all others": a line for each of many tenants stands among them. */
const TOTAL_NAMES = `('stale_publications', 'retries', 'schedule_skipped', 'finished:succeeded', 'finished:superseded',
  'finished:degraded', 'finished:dead', 'finished:cancelled')`

// submit, submitMany, accept
/** Of all tenants: one statement for a batch of submissions, and two tenants hardly ever choose the same id. */
export const OPERATIONS = `SELECT operation_id, ${COLUMNS} FROM jobs WHERE operation_id ${IN_LIST}`
/** As FinishedOperation (rows.ts). */
export const FINISHED_OPERATIONS = `SELECT tenant, operation_id AS operationId, payload_hash AS payloadHash,
  job_id AS jobId, created_at_ms AS createdAtMs, state FROM job_operations WHERE operation_id ${IN_LIST}`
/** In the order of LineCells (intake.ts). Two sums, not "name IN (...)": that list would be built anew at each run. */
export const LINE = `SELECT coalesce(sum(value), 0), coalesce(max(weight), 1.0),
  coalesce(max(CASE WHEN priority = ?2 THEN rank END), 0),
  coalesce((SELECT rank FROM job_counters WHERE name = 'time' AND whose = '' AND priority = ?2), 0),
  (SELECT coalesce(sum(value), 0) FROM job_counters WHERE name = 'ready')
    + (SELECT coalesce(sum(value), 0) FROM job_counters WHERE name = 'running')
  FROM job_counters WHERE name = 'line' AND whose = ?1`
const ROW = `(?, ?, ?, ?, ?, ?, ?, ?, 'ready', ?, ?, ?, ?, 0, 0, 1, ?, ?, ?)`
const INSERT = `INSERT INTO jobs (id, kind, tenant, payload, operation_id, subject, subject_version, key, state, hold,
  priority, rank, run_at_ms, attempt, epoch, generation, submitted_at_ms, deadline_ms, deadline_at_ms) VALUES `
export const insert = ofRows((rows) => `${INSERT} ${repeated(ROW, rows)}`)
export const linesGrow = ofRows(
  (rows) => `INSERT INTO job_counters (name, whose, priority, value, rank, weight)
  VALUES ${repeated("('line', ?, ?, ?, ?, ?)", rows)}
  ON CONFLICT DO UPDATE SET value = value + excluded.value, rank = excluded.rank`,
)

// What every method that moves jobs adds up and writes at its end (ledger.ts).
export const count = ofRows(
  (rows) => `INSERT INTO job_counters (name, whose, priority, value) VALUES ${repeated('(?, ?, 0, ?)', rows)}
  ON CONFLICT DO UPDATE SET value = value + excluded.value`,
)
export const LINE_SHRINKS = `UPDATE job_counters SET value = value - ?
  WHERE name = 'line' AND whose = ? AND priority = ?`
export const FREE_KEY = `UPDATE jobs SET hold = 0 WHERE seq IN (SELECT seq FROM jobs
    WHERE ${HELD_BY_KEY} AND kind = ?1 AND key = ?2 ORDER BY priority, rank, id LIMIT ?3)
  AND NOT EXISTS (SELECT 1 FROM job_keys WHERE kind = ?1 AND key = ?2 AND next_at_ms > ?4)`

// claim: what of the asked kinds that are not paused is due or will be, nextDueInMs's question too
export const STANDING_OF_KINDS = `SELECT asked.value AS kind,
  EXISTS (SELECT 1 FROM jobs WHERE kind = asked.value AND ${CLAIMABLE}) AS isClaimable,
  (SELECT min(run_at_ms) FROM jobs WHERE kind = asked.value AND ${HELD_UNTIL}) AS heldUntilMs,
  (SELECT min(lease_until_ms) FROM jobs WHERE kind = asked.value AND state = 'running') AS leaseUntilMs,
  (SELECT k.next_at_ms FROM job_keys k WHERE k.kind = asked.value AND EXISTS
    (SELECT 1 FROM jobs WHERE kind = k.kind AND key = k.key AND ${HELD_BY_KEY}) ORDER BY k.next_at_ms LIMIT 1)
    AS keyAtMs,
  (SELECT min(next_at_ms) FROM job_schedules WHERE kind = asked.value) AS scheduleAtMs
  FROM json_each(?1) AS asked WHERE NOT EXISTS
    (SELECT 1 FROM job_kinds WHERE kind = asked.value AND (until_ms IS NULL OR until_ms > ?2))`
export const LEASES_OVER = `SELECT ${FOUND} FROM jobs
  WHERE kind = ? AND state = 'running' AND lease_until_ms <= ? ORDER BY lease_until_ms LIMIT 500`
export const FILE_EXPIRED = `${FILE} ?, 'lease_expired', 'lease_expired' FROM jobs WHERE seq = ?`
export const LEASE_OVER = `UPDATE jobs SET state = 'ready', hold = 1, lease_until_ms = NULL, worker = NULL,
  started_at_ms = NULL, last_error = 'lease_expired' WHERE seq = ?`
export const WAITS_OVER = `SELECT seq, id, tenant, priority, rank, run_at_ms AS runAtMs,
  (SELECT max(weight) FROM job_counters WHERE name = 'line' AND whose = jobs.tenant) AS weight
  FROM jobs WHERE kind = ? AND ${HELD_UNTIL} AND run_at_ms <= ? ORDER BY run_at_ms, id LIMIT 500`
export const WAIT_OVER = 'UPDATE jobs SET hold = 0, rank = ? WHERE seq = ?'
export const KEYS_DUE =
  'SELECT key FROM job_keys WHERE kind = ? AND next_at_ms <= ? ORDER BY next_at_ms LIMIT 500'
export const KEY_DUE = 'DELETE FROM job_keys WHERE kind = ? AND key = ?'
export const VIRTUAL_TIMES = `SELECT priority, rank AS virtualTime FROM job_counters WHERE name = 'time'`
const CANDIDATES: string[] = []
/** The due jobs of so many kinds, merged in their order: each kind's index is read as far as it is needed. */
export function candidates(kinds: number): string {
  const ofKind = `SELECT ${COLUMNS} FROM jobs WHERE kind = ? AND ${CLAIMABLE}`
  CANDIDATES[kinds] ??=
    `${new Array(kinds).fill(ofKind).join(' UNION ALL ')} ORDER BY priority, rank, id LIMIT ?`
  return CANDIDATES[kinds]
}
export const RUNNING_OF_KIND = `SELECT value AS n FROM job_counters WHERE name = 'running' AND whose = ?`
export const RUNNING_OF_KEY = `SELECT count(*) AS n FROM jobs WHERE state = 'running' AND kind = ? AND key = ?`
export const NEXT_START = 'SELECT next_at_ms AS nextAtMs FROM job_keys WHERE kind = ? AND key = ?'
export const HOLD_BY_KEY = `UPDATE jobs SET hold = 2 WHERE seq ${IN_LIST}`
export const CLAIM = `UPDATE jobs SET state = 'running', epoch = epoch + 1, attempt = attempt + 1, lease_until_ms = ?,
  worker = ?, started_at_ms = ? WHERE seq ${IN_LIST} AND ${CLAIMABLE}`
export const SPACE_KEY = `INSERT INTO job_keys (kind, key, next_at_ms) VALUES (?1, ?2, ?3)
  ON CONFLICT (kind, key) DO UPDATE SET next_at_ms = ?3`
export const ADVANCE_VIRTUAL_TIME = `INSERT INTO job_counters (name, whose, priority, value, rank)
  VALUES ('time', '', ?1, 0, ?2) ON CONFLICT DO UPDATE SET rank = max(rank, ?2)`

// listen
export const FILE_OF_DATABASE = `SELECT file FROM pragma_database_list WHERE name = 'main'`

// heartbeat
const HOLDS_LEASE = `id = ? AND epoch = ? AND state = 'running' AND lease_until_ms > ?`
export const EXTEND = `UPDATE jobs SET lease_until_ms = ? WHERE ${HOLDS_LEASE}`

// publish
export const STANDING = `SELECT state, epoch, lease_until_ms AS leaseUntilMs, worker IS NOT NULL AS isAttempt,
  (SELECT outcome FROM job_attempts WHERE job_id = jobs.id AND epoch = ?) AS filed FROM jobs WHERE id = ?`
export const END = `UPDATE jobs SET state = ?, lease_until_ms = NULL, finished_at_ms = ?, last_error = ?, result = ?
  WHERE ${HOLDS_LEASE}`
/** The attempt under way has ended and its job goes on. */
export const FILE_RUNNING = `${FILE} ?, ?, ? FROM jobs WHERE ${HOLDS_LEASE}`
/** A retry is held, also one for now: the next claim gives it its place in the line (returning.ts). */
export const BACK = `UPDATE jobs SET state = 'ready', hold = ?, lease_until_ms = NULL, worker = NULL,
  started_at_ms = NULL, run_at_ms = ?, attempt = attempt - ?, last_error = coalesce(?, last_error) WHERE id = ?`

// progress
export const PROGRESS = `UPDATE jobs SET progress = ? WHERE ${HOLDS_LEASE}`

// openStep, recordStep, steps, allowance
export const CLAIMED = 'SELECT state, epoch, tenant FROM jobs WHERE id = ?'
const STEP = `name, state, epoch, allowance, period, provider_id AS providerId, result, uses,
  opened_at_ms AS openedAtMs, changed_at_ms AS changedAtMs`
export const ONE_STEP = `SELECT ${STEP} FROM job_steps WHERE job_id = ? AND name = ?`
export const STORE_STEP = `INSERT OR REPLACE INTO job_steps (job_id, name, tenant, state, epoch, allowance, period,
  provider_id, result, uses, opened_at_ms, changed_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
export const STEPS = `SELECT ${STEP} FROM job_steps WHERE job_id = ? ORDER BY name`
export const USES = `SELECT used, reserved, unknown FROM job_allowances
  WHERE tenant = ? AND allowance = ? AND period = ?`
export const COUNT_USES = `INSERT INTO job_allowances (tenant, allowance, period, used, reserved, unknown)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (tenant, allowance, period)
  DO UPDATE SET used = used + ?4, reserved = reserved + ?5, unknown = unknown + ?6`

// supersede
export const PENDING_OF_SUBJECT = `SELECT ${FOUND} FROM jobs
  WHERE subject = ? AND subject_version < ? AND finished_at_ms IS NULL`
export const END_OUTSIDE = `UPDATE jobs SET state = ?1, hold = 0, lease_until_ms = NULL, finished_at_ms = ?2,
  last_error = CASE state WHEN 'running' THEN NULL ELSE last_error END WHERE seq = ?3`

// forget, forgetTenant
export const ALL_OF_SUBJECT = `SELECT ${FOUND} FROM jobs WHERE subject = ?`
export const PENDING_OF_LINES = `SELECT coalesce(sum(value), 0) AS n FROM job_counters
  WHERE name = 'line' AND whose = ?`
export const DEAD_OF_TENANT = `SELECT ${FOUND} FROM jobs INDEXED BY jobs_not_well
  WHERE ${NOT_WELL} AND state = 'dead' AND tenant = ?`
/** By the indexes of what is pending: what others have done however long ago is not looked through. */
export const PENDING_OF_TENANT = [
  `jobs_claimable WHERE ${CLAIMABLE}`,
  `jobs_held_until WHERE ${HELD_UNTIL}`,
  `jobs_held_by_key WHERE ${HELD_BY_KEY}`,
  `jobs_leased WHERE state = 'running'`,
]
  .map((index) => `SELECT ${FOUND} FROM jobs INDEXED BY ${index} AND tenant = ?1`)
  .join(' UNION ALL ')
export const DELETE_JOBS = `DELETE FROM jobs WHERE seq ${IN_LIST}`
export const DELETE_ATTEMPTS = `DELETE FROM job_attempts WHERE job_id ${IN_LIST}`
export const DELETE_STEPS = `DELETE FROM job_steps WHERE job_id ${IN_LIST}`
export const DELETE_SCHEDULES = 'DELETE FROM job_schedules WHERE tenant = ?'

// repair, discard, cancel
export const ONE = `SELECT ${COLUMNS} FROM jobs WHERE id = ?`
export const ONE_FOUND = `SELECT ${FOUND} FROM jobs WHERE id = ?`
export const MAKE_DUE = `UPDATE jobs SET hold = CASE hold WHEN 1 THEN 0 ELSE hold END, run_at_ms = ? WHERE seq = ?`
/** The attempt that ended the job, which is to begin anew or to end otherwise. */
export const FILE_ENDED = `${FILE} finished_at_ms, state, last_error FROM jobs WHERE seq = ? AND worker IS NOT NULL`
export const FORGET_ATTEMPT = 'UPDATE jobs SET worker = NULL, started_at_ms = NULL WHERE seq = ?'
export const NEW_GENERATION = `UPDATE jobs SET state = 'ready', hold = 0, generation = generation + 1, attempt = 0,
  rank = ?1, run_at_ms = ?2, deadline_at_ms = ?2 + deadline_ms, finished_at_ms = NULL WHERE seq = ?3`

// pause, resume, paused
export const PAUSE = 'INSERT OR REPLACE INTO job_kinds (kind, reason, since_ms, until_ms) VALUES (?, ?, ?, ?)'
const PAUSES = 'SELECT kind, reason, since_ms AS sinceMs, until_ms AS untilMs FROM job_kinds'
export const PAUSED = `${PAUSES} WHERE until_ms IS NULL OR until_ms > ? ORDER BY kind`
export const PAUSE_OF = `${PAUSES} WHERE kind = ? AND (until_ms IS NULL OR until_ms > ?)`
export const RESUME = 'DELETE FROM job_kinds WHERE kind = ?'

// setWeight
export const SET_WEIGHT = `UPDATE job_counters SET weight = ?2 WHERE name = 'line' AND whose = ?1`
export const NEW_WEIGHT = `INSERT INTO job_counters (name, whose, priority, value, rank, weight)
  VALUES ('line', ?1, 0, 0, 0, ?2)`

// schedule, unschedule, schedules
const SCHEDULE = `name, kind, tenant, payload, cron, zone, missed, key, priority, deadline_ms AS deadlineMs,
  next_at_ms AS nextAtMs, last_fired_at_ms AS lastFiredAtMs`
export const ONE_SCHEDULE = `SELECT ${SCHEDULE} FROM job_schedules WHERE name = ?`
export const SCHEDULES_DUE = `SELECT ${SCHEDULE} FROM job_schedules WHERE kind = ? AND next_at_ms <= ?`
export const SCHEDULES = `SELECT ${SCHEDULE} FROM job_schedules ORDER BY name`
export const STORE_SCHEDULE = `INSERT OR REPLACE INTO job_schedules (name, kind, tenant, payload, cron, zone, missed, key,
  priority, deadline_ms, next_at_ms, last_fired_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
export const MOVE_SCHEDULE = 'UPDATE job_schedules SET next_at_ms = ?, last_fired_at_ms = ? WHERE name = ?'
export const DELETE_SCHEDULE = 'DELETE FROM job_schedules WHERE name = ?'

// prune
export const FINISHED_BEFORE = `SELECT ${FOUND}, payload, submitted_at_ms AS submittedAtMs FROM jobs
  WHERE finished_at_ms IS NOT NULL AND state <> 'dead' AND finished_at_ms < ? ORDER BY finished_at_ms, id LIMIT ?`
export const KEEP_OPERATION = `INSERT INTO job_operations (tenant, operation_id, payload_hash, job_id, created_at_ms, state)
  VALUES (?, ?, ?, ?, ?, ?)`
export const PRUNE_OPERATIONS = `DELETE FROM job_operations WHERE seq IN
  (SELECT seq FROM job_operations WHERE created_at_ms < ? ORDER BY created_at_ms, tenant, operation_id LIMIT ?)`
export const PRUNE_STEPS = `DELETE FROM job_steps WHERE (job_id, name) IN
  (SELECT job_id, name FROM job_steps s WHERE changed_at_ms < ? AND NOT EXISTS (SELECT 1 FROM jobs WHERE id = s.job_id)
    ORDER BY changed_at_ms, job_id, name LIMIT ?)`

// get, list, counts, totals
export const ONE_WITH_ATTEMPT = `SELECT ${COLUMNS}, worker, started_at_ms AS startedAtMs FROM jobs WHERE id = ?`
export const ATTEMPTS = `SELECT generation, attempt, epoch, worker, started_at_ms AS startedAtMs,
  ended_at_ms AS endedAtMs, outcome, error FROM job_attempts WHERE job_id = ? ORDER BY epoch`
const PAGE = `(?1 IS NULL OR kind = ?1) AND id < coalesce(?2, x'') ORDER BY id DESC LIMIT ?3`
export const LIST = `SELECT ${COLUMNS} FROM jobs WHERE ${PAGE}`
/** By the indexes that hold nothing else, where there is one: the few dead ones among a million. */
export const LIST_OF_STATE: Record<JobState, string> = {
  ready: `SELECT ${COLUMNS} FROM jobs WHERE state = 'ready' AND ${PAGE}`,
  running: `SELECT ${COLUMNS} FROM jobs INDEXED BY jobs_leased WHERE state = 'running' AND ${PAGE}`,
  succeeded: `SELECT ${COLUMNS} FROM jobs WHERE state = 'succeeded' AND ${PAGE}`,
  superseded: `SELECT ${COLUMNS} FROM jobs WHERE ${NOT_WELL} AND state = 'superseded' AND ${PAGE}`,
  degraded: `SELECT ${COLUMNS} FROM jobs WHERE ${NOT_WELL} AND state = 'degraded' AND ${PAGE}`,
  dead: `SELECT ${COLUMNS} FROM jobs WHERE ${NOT_WELL} AND state = 'dead' AND ${PAGE}`,
  cancelled: `SELECT ${COLUMNS} FROM jobs WHERE ${NOT_WELL} AND state = 'cancelled' AND ${PAGE}`,
}
const oldest = (held: string) =>
  `(SELECT min(run_at_ms) FROM jobs WHERE kind = c.whose AND ${held} AND run_at_ms <= ?1)`
export const COUNTS = `SELECT whose AS kind, name AS state, value AS count, CASE name WHEN 'ready' THEN
    ?1 - (SELECT min(at) FROM (SELECT ${oldest(CLAIMABLE)} AS at UNION ALL SELECT ${oldest(HELD_UNTIL)}
      UNION ALL SELECT ${oldest(HELD_BY_KEY)})) END AS oldestDueMs
  FROM job_counters c WHERE name IN ${STATES} AND value > 0 ORDER BY whose, name`
export const TOTALS = `SELECT whose AS kind, name, value FROM job_counters
  WHERE name IN ${TOTAL_NAMES} ORDER BY whose, name`
