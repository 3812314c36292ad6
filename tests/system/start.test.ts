import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { startGarner, tempDir, until } from './garner.ts'

const SIGN_IN = '/better-auth/'
const FETCHER = '/outbound/page.ts'

/** While a module is loaded nobody is answered: what is loaded when, decides how long the first people wait. */
describe('the first people after a start', () => {
  test('of one server among others: it listens when all it needs is loaded, and loads nothing after', async () => {
    const { loading } = await started('serve')
    expect(loading().before).toContain(SIGN_IN)
    expect(loading().after).not.toContain(SIGN_IN)
  })

  test('do not wait for the worker’s parts where there is no worker', async () => {
    const { garner, loading } = await started('serve', '--demo')
    await garner.stop()
    expect(loading().all).not.toContain(FETCHER)
  })

  test('of the whole program see it listen before what signing in and the worker need is loaded', async () => {
    const { loading } = await started('all')
    await until(() => [SIGN_IN, FETCHER].every((one) => loading().after.includes(one)))
    expect(loading().before).not.toContain(SIGN_IN)
    expect(loading().before).not.toContain(FETCHER)
  })
})

/** Started with a record of the modules it loads, before it listens and after. */
async function started(...args: string[]) {
  const file = join(tempDir(), 'loading')
  const hook = fileURLToPath(new URL('loading.ts', import.meta.url))
  const garner = await startGarner({ args, env: { LOADING: file, NODE_OPTIONS: `--import=${hook}` } })
  const loading = () => {
    const all = readFileSync(file, 'utf8')
    const [before = '', after = ''] = all.split('\nlistening\n')
    return { all, before, after }
  }
  return { garner, loading }
}
