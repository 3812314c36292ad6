import type { Limit, Limits } from '../lib/peer.ts'
import { connectTo, describePostgres, freshDatabase, type PgClient, type PgQuery } from '../lib/postgres.ts'
import { BODY, perSecondOf, some } from './steps.ts'

const DATABASE = 'bench_raw'

/** A bare table of jobs with the one index that a claim needs: no tenants, bounds, operation ids or history. */
const SCHEMA = `
  CREATE TABLE job (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, queue text NOT NULL, payload jsonb NOT NULL,
    state smallint NOT NULL DEFAULT 0, epoch int NOT NULL DEFAULT 0, run_at timestamptz NOT NULL DEFAULT now(),
    lease_until timestamptz
  );
  CREATE INDEX job_ready ON job (queue, run_at, id) WHERE state = 0`
const FILL = "INSERT INTO job (queue, payload) SELECT 'q', $1::jsonb FROM generate_series(1, $2::int)"
const INSERT: PgQuery = {
  name: 'insert',
  text: 'INSERT INTO job (queue, payload) VALUES ($1, $2) RETURNING id',
  values: ['q', BODY],
}
const INSERT_AND_NOTIFY: PgQuery = {
  name: 'notify',
  text: `WITH i AS (INSERT INTO job (queue, payload) VALUES ($1, $2) RETURNING id)
         SELECT pg_notify('jobs', '') FROM i`,
  values: ['q', BODY],
}
const INSERT_MANY = 'INSERT INTO job (queue, payload) SELECT * FROM unnest($1::text[], $2::jsonb[])'
const CLAIM = `
  UPDATE job SET state = 1, epoch = epoch + 1, lease_until = now() + interval '30 s' WHERE id IN (
    SELECT id FROM job WHERE queue = 'q' AND state = 0 AND run_at <= now()
    ORDER BY run_at, id LIMIT $1 FOR UPDATE SKIP LOCKED
  ) RETURNING id, epoch, payload`
const COMPLETE = `
  UPDATE job j SET state = 2, lease_until = NULL FROM unnest($1::bigint[], $2::int[]) AS d (id, epoch)
  WHERE j.id = d.id AND j.epoch = d.epoch AND j.state = 1`
const DELETE = `
  DELETE FROM job j USING unnest($1::bigint[], $2::int[]) AS d (id, epoch)
  WHERE j.id = d.id AND j.epoch = d.epoch AND j.state = 1`

/** Steps on `connections` of their own side by side, over a table with `filled` jobs. */
function steps({
  connections = 1,
  filled = 0,
  step,
}: {
  connections?: number
  filled?: number
  step: (client: PgClient) => Promise<number>
}): Limit['run'] {
  return async (_config, ms) => {
    await freshDatabase(DATABASE)
    const first = await connectTo(DATABASE)
    await first.query(SCHEMA)
    if (filled > 0) {
      await first.query(FILL, [BODY, filled])
      await first.query('VACUUM ANALYZE job')
    }
    const others = await Promise.all(Array.from({ length: connections - 1 }, () => connectTo(DATABASE)))
    const clients = [first, ...others]
    const rate = await perSecondOf(
      ms,
      clients.map((client) => () => step(client)),
    )
    await Promise.all(clients.map((client) => client.end()))
    return rate
  }
}

const query = (what: PgQuery) => async (client: PgClient) => {
  await client.query(what)
  return 1
}

function insertMany(rows: number): Limit['run'] {
  const values = [new Array<string>(rows).fill('q'), new Array<string>(rows).fill(BODY)]
  return steps({
    async step(client) {
      await client.query({ name: 'many', text: INSERT_MANY, values })
      return rows
    },
  })
}

/** Claims `jobs` in one commit and ends them in another, each fenced by its epoch. */
function claims({
  jobs,
  end = COMPLETE,
  connections = 1,
}: {
  jobs: number
  end?: string
  connections?: number
}): Limit['run'] {
  return steps({
    connections,
    filled: jobs === 1 ? 60_000 : 300_000,
    async step(client) {
      const { rows } = await client.query({ name: 'claim', text: CLAIM, values: [jobs] })
      const claimed = some(rows)
      const fences = [claimed.map(({ id }) => id), claimed.map(({ epoch }) => epoch)]
      await client.query({ name: 'end', text: end, values: fences })
      return claimed.length
    },
  })
}

const insert = (connections: number, what = INSERT) => steps({ connections, step: query(what) })

export const postgresLimits: Limits = {
  name: 'raw-postgres',
  server: 'postgres',
  configs: { best: { about: 'The pg driver, prepared statements' } },
  describe: () => describePostgres('pg'),
  limits: [
    { case: 'submit', measure: 'insert 1 per commit', unit: '/s', run: insert(1) },
    { case: 'submit-50', measure: 'insert 1 per commit, 50 connections', unit: '/s', run: insert(50) },
    { case: 'submit-many', measure: 'insert 1,000 per statement', unit: '/s', run: insertMany(1000) },
    { case: 'drain', measure: 'claim 500, complete 500', unit: '/s', run: claims({ jobs: 500 }) },
    {
      case: 'limits',
      measure: 'round trip (SELECT 1)',
      unit: '/s',
      run: steps({ step: query({ name: 'one', text: 'SELECT 1' }) }),
    },
    {
      case: 'limits',
      measure: 'insert and NOTIFY per commit',
      unit: '/s',
      run: insert(1, INSERT_AND_NOTIFY),
    },
    {
      case: 'limits',
      measure: 'insert and NOTIFY per commit, 50 connections',
      unit: '/s',
      run: insert(50, INSERT_AND_NOTIFY),
    },
    { case: 'limits', measure: 'insert 100 per statement', unit: '/s', run: insertMany(100) },
    { case: 'limits', measure: 'insert 5,000 per statement', unit: '/s', run: insertMany(5000) },
    { case: 'limits', measure: 'claim 1, complete 1', unit: '/s', run: claims({ jobs: 1 }) },
    {
      case: 'limits',
      measure: 'claim 1, complete 1, 20 connections',
      unit: '/s',
      run: claims({ jobs: 1, connections: 20 }),
    },
    { case: 'limits', measure: 'claim 100, complete 100', unit: '/s', run: claims({ jobs: 100 }) },
    {
      case: 'limits',
      measure: 'claim 500, delete 500',
      unit: '/s',
      run: claims({ jobs: 500, end: DELETE }),
    },
  ],
}
