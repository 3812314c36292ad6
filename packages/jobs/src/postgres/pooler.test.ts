import { beforeAll } from 'vitest'
import { describeThroughPooler, pooled } from '../../../db/testing/postgres.ts'
import { describeJobStore } from '../../testing/job-store.suite.ts'
import { openerOf, preparedDatabase } from '../../testing/postgres.ts'

describeThroughPooler('through a pooler in transaction mode', () => {
  let url: string
  let through: string
  beforeAll(async () => {
    url = await preparedDatabase()
    through = await pooled(url)
  })
  describeJobStore({
    name: 'PostgreSQL through pgbouncer in transaction mode',
    open: openerOf(() => ({ url: through, options: { isPooled: true, listenUrl: url } })),
  })
})
