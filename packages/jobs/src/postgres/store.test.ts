import { beforeAll } from 'vitest'
import { describeOnPostgres } from '../../../db/testing/postgres.ts'
import { describeJobStore } from '../../testing/job-store.suite.ts'
import { openerOf, preparedDatabase } from '../../testing/postgres.ts'

describeOnPostgres('on PostgreSQL', () => {
  let url: string
  beforeAll(async () => {
    url = await preparedDatabase()
  })
  describeJobStore({ name: 'PostgreSQL, through two pools of connections', open: openerOf(() => ({ url })) })
})
