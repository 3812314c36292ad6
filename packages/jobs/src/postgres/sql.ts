/**
 * The statements of the PostgreSQL store, in the order of the contract's methods. What is hot or must be one round trip
 * is a function of the database (migrations/); a null instant means the database's own clock.
 *
 * Lock order, everywhere: a job's row (several in order of id), then tenants (in order of name), then slots. Whoever
 * ends a job takes no more than the first: what it counts goes where nobody else is writing (`job_leave`). Claims take
 * what is free and wait for no row, only for another claim of a kind with limits. So no two calls of this store can wait
 * for each other. A caller's transaction that makes several calls can (submit, then cancel, while somebody repairs that
 * very job): PostgreSQL finds out after its `deadlock_timeout`, one of the two is undone and run again.
 */
const COLUMNS = `id, kind, tenant, payload, subject, subject_version, key, state, priority, rank, run_at_ms, attempt, epoch,
  generation, lease_until_ms, submitted_at_ms, deadline_at_ms, started_at_ms, finished_at_ms, worker, last_error, result,
  progress`

export const NOW = 'SELECT job_now(?::bigint) AS "nowMs"'

// submit, submitMany, accept
export const SUBMIT_ONE = `SELECT job_submit_one(?::text, ?::text, ?::text, ?::text, ?::integer, ?::bigint, ?::bigint,
  ?::text, ?::bigint, ?::text, ?::text, ?::text, ?::bigint, ?::bigint, ?::bigint)::text AS "nowAndRank"`
const submitBy = (name: string) => `SELECT now_ms AS "nowMs", refusal, refused_at AS "refusedAt", taken,
  bases::text AS bases, costs::text AS costs, repeats FROM ${name}(
  ?::text::text[], ?::text::text[], ?::text::text[], ?::text, ?::text::integer[], ?::text::bigint[], ?::text::bigint[],
  ?::text::text[], ?::text::bigint[], ?::text::text[], ?::text::text[], ?::text::text[],
  ?::text::integer[], ?::text::integer[], ?::text::text[], ?::text::integer[],
  ?::bigint, ?::bigint, ?::integer = 1, ?::bigint)`
export const SUBMIT = submitBy('job_submit')
export const SUBMIT_ALL = submitBy('job_submit_all')

// claim
export const CLAIM = `SELECT id, kind, tenant, payload, subject, subject_version, key, priority, rank, run_at_ms, attempt,
  epoch, generation, submitted_at_ms, deadline_at_ms, started_at_ms, last_error, result, progress
  FROM job_claim_due(?::text, ?::integer, ?::bigint, ?::text::text[], ?::text::integer[], ?::text::integer[],
    ?::text::bigint[], ?::integer = 1, ?::bigint)`

// nextDueInMs
export const NEXT_DUE = 'SELECT job_next_due(?::text::text[], ?::bigint) AS "inMs"'

// listen
export const REST = `INSERT INTO job_resting VALUES (?, job_now(?::bigint) + ?::bigint)
  ON CONFLICT (worker) DO UPDATE SET until_ms = excluded.until_ms`
export const WORKER_NAME = 'SELECT gen_random_uuid()::text AS worker'
export const BUSY = 'DELETE FROM job_resting WHERE worker = ?'

// heartbeat, progress
export const HEARTBEAT =
  'SELECT id, epoch FROM job_heartbeat(?::text::text[], ?::text::bigint[], ?::bigint, ?::bigint)'
export const PROGRESS = `UPDATE jobs SET progress = ? WHERE id = ? AND epoch = ?::bigint
  AND CASE state WHEN 'running' THEN lease_until_ms > job_now(?::bigint) END RETURNING id`

// publish
export const FENCE = 'SELECT id, answer FROM job_fence(?::text::text[], ?::text::bigint[], ?::bigint)'
export const PUBLISH = `SELECT id, answer FROM job_publish(?::text::text[], ?::text::bigint[], ?::text::text[],
  ?::text::text[], ?::text, ?::text::bigint[], ?::integer = 1, ?::bigint)`

// openStep, recordStep, steps, allowance
const STEP_COLUMNS = `name, state, epoch, allowance, period, provider_id AS "providerId", result, uses,
  opened_at_ms AS "openedAtMs", changed_at_ms AS "changedAtMs"`
export const OPENER = 'SELECT tenant, state, epoch FROM jobs WHERE id = ? FOR NO KEY UPDATE'
export const STEP = `SELECT ${STEP_COLUMNS} FROM job_steps WHERE job_id = ? AND name = ?`
export const STEPS = `SELECT ${STEP_COLUMNS} FROM job_steps WHERE job_id = ? ORDER BY name`
export const KEEP_STEP = `INSERT INTO job_steps VALUES (?, ?, ?, ?::bigint, ?, ?, ?, ?, ?, ?::integer, ?::bigint, ?::bigint)
  ON CONFLICT (job_id, name) DO UPDATE SET state = excluded.state, epoch = excluded.epoch,
    allowance = excluded.allowance, period = excluded.period, provider_id = excluded.provider_id,
    result = excluded.result, uses = excluded.uses, opened_at_ms = excluded.opened_at_ms,
    changed_at_ms = excluded.changed_at_ms`
export const USES = `SELECT used, reserved, unknown FROM job_allowances
  WHERE tenant = ? AND allowance = ? AND period = ?`
export const LOCK_USES = `INSERT INTO job_allowances (tenant, allowance, period) VALUES (?, ?, ?)
  ON CONFLICT (tenant, allowance, period) DO UPDATE SET used = job_allowances.used RETURNING used, reserved, unknown`
export const COUNT_USE = `INSERT INTO job_allowances VALUES (?, ?, ?, ?::bigint, ?::bigint, ?::bigint)
  ON CONFLICT (tenant, allowance, period) DO UPDATE SET used = job_allowances.used + excluded.used,
    reserved = job_allowances.reserved + excluded.reserved, unknown = job_allowances.unknown + excluded.unknown`
export const COUNT = 'SELECT job_count(ARRAY[?::text], ARRAY[?::text], ARRAY[1::bigint])::text AS done'

// supersede, forget, forgetTenant, repair, discard, cancel
export const PENDING_OF_SUBJECT = `SELECT id FROM jobs WHERE subject = ? AND subject_version < ?::bigint
  AND state IN ('ready', 'running') ORDER BY id FOR UPDATE`
export const ALL_OF_SUBJECT = 'SELECT id FROM jobs WHERE subject = ? ORDER BY id FOR UPDATE'
export const GIVEN_UP_OF_TENANT = `SELECT id FROM jobs WHERE tenant = ? AND state IN ('ready', 'running', 'dead')
  ORDER BY id FOR UPDATE`
export const LOCKED = `SELECT ${COLUMNS} FROM jobs WHERE id = ? FOR UPDATE`
export const END = 'SELECT job_end(?::text::text[], ?::text, ?::bigint)::text AS done'
export const FORGET = 'SELECT job_forget(?::text::text[], ?::bigint)::text AS done'
export const FORGET_SCHEDULES = 'DELETE FROM job_schedules WHERE tenant = ?'
export const REPAIR = `SELECT refusal, taken FROM job_repair(?::text, ?::integer = 1, ?::bigint, ?::bigint, ?::bigint)`

// pause, resume, paused, setWeight
export const PAUSE = `INSERT INTO job_kinds VALUES (?, ?, job_now(?::bigint), ?::bigint) ON CONFLICT (kind) DO UPDATE
  SET reason = excluded.reason, since_ms = excluded.since_ms, until_ms = excluded.until_ms`
export const RESUME = `DELETE FROM job_kinds WHERE kind = ?
  RETURNING (until_ms IS NULL OR until_ms > job_now(?::bigint))::integer AS "wasPaused"`
export const ANNOUNCE = 'SELECT job_announce(job_now(?::bigint))::text AS done'
export const PAUSED = `SELECT kind, reason, since_ms AS "sinceMs", until_ms AS "untilMs" FROM job_kinds
  WHERE until_ms IS NULL OR until_ms > job_now(?::bigint) ORDER BY kind`
export const SET_COST = `INSERT INTO job_tenants (tenant, cost) VALUES (?, ?::bigint)
  ON CONFLICT (tenant) DO UPDATE SET cost = excluded.cost`

// schedule, unschedule, schedules
const SCHEDULE_COLUMNS = `name, kind, tenant, payload, cron, zone, missed, key, priority, deadline_ms AS "deadlineMs",
  next_at_ms AS "nextAtMs", last_fired_at_ms AS "lastFiredAtMs"`
export const LOCK_SCHEDULE = `SELECT ${SCHEDULE_COLUMNS} FROM job_schedules WHERE name = ? FOR UPDATE`
export const KEEP_SCHEDULE = `INSERT INTO job_schedules VALUES
  (?, ?, ?, ?, ?, ?, ?, ?, ?::integer, ?::bigint, ?::bigint, ?::bigint) ON CONFLICT (name) DO UPDATE SET
    kind = excluded.kind, tenant = excluded.tenant, payload = excluded.payload, cron = excluded.cron,
    zone = excluded.zone, missed = excluded.missed, key = excluded.key, priority = excluded.priority,
    deadline_ms = excluded.deadline_ms, next_at_ms = excluded.next_at_ms`
export const UNSCHEDULE = 'DELETE FROM job_schedules WHERE name = ? RETURNING name'
export const SCHEDULES = `SELECT ${SCHEDULE_COLUMNS} FROM job_schedules ORDER BY name`
export const DUE_SCHEDULES = `SELECT ${SCHEDULE_COLUMNS} FROM job_schedules s WHERE kind = ANY (?::text::text[])
  AND next_at_ms <= ?::bigint AND NOT EXISTS (SELECT FROM job_kinds k WHERE k.kind = s.kind
    AND (k.until_ms IS NULL OR k.until_ms > ?::bigint))
  ORDER BY next_at_ms, name FOR UPDATE SKIP LOCKED`
export const MOVE_SCHEDULE = `UPDATE job_schedules SET next_at_ms = ?::bigint, last_fired_at_ms = ?::bigint WHERE name = ?`

// prune
export const PRUNE = `SELECT jobs, operations, steps
  FROM job_prune(?::bigint, ?::bigint, ?::bigint, ?::integer, ?::bigint)`

// get, list, counts, totals
export const ONE = `SELECT ${COLUMNS} FROM jobs WHERE id = ?`
export const ONE_WITH_ATTEMPTS = `SELECT ${COLUMNS}, (SELECT json_agg(json_build_object(
    'generation', a.generation, 'attempt', a.attempt, 'epoch', a.epoch, 'worker', a.worker,
    'startedAtMs', a.started_at_ms, 'endedAtMs', a.ended_at_ms, 'outcome', a.outcome, 'error', a.error)
    ORDER BY a.epoch) FROM job_attempts a WHERE a.job_id = jobs.id) AS attempts
  FROM jobs WHERE id = ?`
export const LIST = `SELECT ${COLUMNS} FROM jobs WHERE (?::text IS NULL OR state = ?) AND (?::text IS NULL OR kind = ?)
  AND (?::text IS NULL OR id < ?) ORDER BY id DESC LIMIT ?::bigint`
export const COUNTS = `SELECT kind, state, count(*) AS count, job_now(?::bigint)
  - min(run_at_ms) FILTER (WHERE state = 'ready' AND run_at_ms <= job_now(?::bigint)) AS "oldestDueMs"
  FROM jobs GROUP BY kind, state ORDER BY kind, state`
export const TOTALS = `SELECT kind, name, sum(value)::bigint AS value FROM job_totals
  GROUP BY kind, name ORDER BY kind, name`
