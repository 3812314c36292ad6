import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, look, save } from './api.ts'
import { runGarner, startGarner, tempDir } from './garner.ts'

const STEP_KEYS = ['claimed', 'published', 'superseded', 'degraded', 'retried', 'dead', 'discarded', 'stale']

describe('garner step', () => {
  test('does everything that is due once, says so in one line, and leaves for later what is for later', async () => {
    const server = await startGarner({ args: ['serve', '--demo'] })
    const good = await save(server, { url: 'https://good.example/a-page', title_mode: 'ok' })
    const slow = await save(server, { url: 'https://slow.example/', title_mode: 'timeout' })
    const step = async (env: Record<string, string>, ...args: string[]) => {
      const done = await runGarner(['step', '--demo', ...args], { ...env, GARNER_DATA: server.dataDir })
      expect(done.code).toBe(0)
      expect(done.stdout).toMatch(/^\{[^\n]*\}\n$/)
      const report = JSON.parse(done.stdout)
      expect(Object.keys(report)).toEqual(STEP_KEYS)
      return report
    }
    expect(await step({})).toMatchObject({ claimed: 2, published: 1, retried: 1, degraded: 0 })
    expect((await look(server, good.id)).body).toMatchObject({
      title_status: 'ready',
      job: { state: 'succeeded' },
    })
    expect((await look(server, slow.id)).body).toMatchObject({ title_status: 'pending', title_tries: 1 })

    // A day has 86,400 s; without waits between them, all tries that are left are made in one pass.
    expect(await step({ GARNER_RETRY_BASE_S: '0' }, '--advance', '7200')).toMatchObject({
      claimed: 3,
      retried: 2,
      degraded: 1,
    })
    expect((await look(server, slow.id)).body).toMatchObject({
      title: null,
      title_status: 'timeout',
      title_error: 'timeout',
      job: { state: 'degraded' },
    })
    expect(await step({}, '--advance', '80000')).toMatchObject({ claimed: 0 })
  })
})

describe('garner check and garner faults', () => {
  test('check shows every setting, hides secrets, says what is missing or simulated, and makes nothing', async () => {
    const dataDir = join(tempDir(), 'not-yet')
    const secrets = {
      GARNER_VISION_KEY: 'sk-very-secret',
      GARNER_CACHE_URL: 'redis://:hunter2@cache.example',
    }
    const normal = await runGarner(['check'], { ...secrets, GARNER_DATA: dataDir, GARNER_LEASE_S: '45' })
    expect(normal.code).toBe(0)
    expect(normal.stdout).toMatch(/^GARNER_LEASE_S +45 +\(set\)$/m)
    expect(normal.stdout).toMatch(/^GARNER_MAX_PENDING +200 +\(default\)$/m)
    expect(normal.stdout).toMatch(/^GARNER_VISION_KEY +\(hidden\)/m)
    expect(normal.stdout + normal.stderr).not.toMatch(/sk-very-secret|hunter2/)
    expect(normal.stdout).toContain('database: not made yet')
    expect(existsSync(dataDir)).toBe(false)

    const demo = await runGarner(['check', '--demo'], { GARNER_FAULT: 'commit.sync:delay=10' })
    expect(demo.stdout).toContain('people: simulated')
    expect(demo.stdout).toContain('the internet: simulated')
    expect(demo.stdout).toContain('faults: put in on purpose at commit.sync:delay=10')
  })

  test('faults lists every point in one line with what it stands for', async () => {
    const { stdout, code } = await runGarner(['faults'])
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.filter((line) => !/^[a-z]+\.[a-z-]+ {2,}\S.*$/.test(line))).toEqual([])
    const points = lines.map((line) => line.split(' ')[0])
    expect(points).toEqual(
      expect.arrayContaining([
        ...['submit.before-commit', 'submit.after-commit', 'claim.after-commit', 'fetch.after-response'],
        ...['publish.before-commit', 'publish.after-commit', 'account.read', 'origin.read', 'commit.sync'],
        ...['purge.after-queue', 'purge.after-photos', 'photo.after-write', 'allowance.reserve'],
        ...['vision.before-call', 'vision.after-response', 'vision.after-settled'],
      ]),
    )
  })
})

describe('what cannot be started is said in one go, with exit code 2, and nothing is made', () => {
  async function expectRefused(args: string[], env: Record<string, string>, words: (string | RegExp)[]) {
    const GARNER_DATA = env.GARNER_DATA ?? tempDir()
    const before = readdirSync(GARNER_DATA)
    const refused = await runGarner(args, { ...env, GARNER_DATA })
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    for (const word of words) expect(refused.stderr).toMatch(word)
    expect(refused.stderr).not.toMatch(/at .*\.ts:\d+/)
    expect(readdirSync(GARNER_DATA)).toEqual(before)
    return refused.stderr
  }

  test('every bad value and argument, secrets not repeated', async () => {
    const said = await expectRefused(
      ['serve', '--port', '70000', 'more', '--demo'],
      {
        GARNER_LEASE_S: '0.5',
        GARNER_MAX_PENDING: 'many',
        GARNER_DATABASE_URL: 'mysql://x',
        GARNER_FAULT: 'nowhere:kill',
        GARNER_FETCH_ALLOW: '10.0.0.0/99',
        GARNER_CACHE_URL: 'http://:hunter2@cache',
        GARNER_TYPO: '1',
      },
      [
        /GARNER_LEASE_S=0\.5: expected 1\.\.600/,
        /GARNER_MAX_PENDING=many/,
        /GARNER_DATABASE_URL/,
        /GARNER_FAULT/,
      ].concat([/GARNER_FETCH_ALLOW/, /GARNER_CACHE_URL/, /GARNER_TYPO/, /--port 70000/, /more/]),
    )
    expect(said).not.toContain('hunter2')
  })

  test.each([
    ['a role that is none', ['fly'], {}, [/fly is not a role/]],
    ['a switch that is none', ['all', '--fast'], {}, [/--fast/]],
    [
      'the demo on every address, in production, beside a real key',
      ['all', '--demo', '--host', '0.0.0.0'],
      { NODE_ENV: 'production', GARNER_VISION_KEY: 'sk-1' },
      [/refused on 0\.0\.0\.0/, /NODE_ENV=production/, /GARNER_VISION_KEY/],
    ],
    [
      'faults and another clock outside demo mode',
      ['step', '--advance', '5'],
      { GARNER_FAULT: 'commit.sync:fail', GARNER_CLOCK_ADVANCE_S: '5' },
      [/GARNER_FAULT is for demo/, /GARNER_CLOCK_ADVANCE_S is for demo/, /--advance is for demo/],
    ],
  ])('%s', async (_name, args, env, words) => {
    await expectRefused(args, env as Record<string, string>, words)
  })

  test('a database that is none: check says so, a start says where it is and what helps; a secret that is none', async () => {
    const GARNER_DATA = tempDir()
    writeFileSync(join(GARNER_DATA, 'garner.db'), 'this is a letter to my aunt, not a database\n'.repeat(200))
    const check = await runGarner(['check'], { GARNER_DATA })
    expect(check.code).toBe(0)
    expect(check.stdout).toMatch(/database: .*garner\.db cannot be used \(corrupt\)/)
    await expectRefused(['serve', '--port', '0'], { GARNER_DATA }, [/garner\.db/, /garner restore FILE/])

    const withoutSecret = tempDir()
    await runGarner(['migrate'], { GARNER_DATA: withoutSecret })
    writeFileSync(join(withoutSecret, 'secret'), 'short')
    await expectRefused(['serve', '--port', '0'], { GARNER_DATA: withoutSecret }, [
      /secret is not a secret of Garner/,
    ])
  })

  test('every address while nobody is the admin; demo over a real person’s data', async () => {
    const open = await runGarner(['all', '--host', '0.0.0.0', '--port', '0'])
    expect([open.code, open.stdout]).toEqual([2, ''])
    expect(open.stderr).toContain('create the admin first')

    const real = await startGarner({ args: ['serve'] })
    const body = { name: 'Ann', email: 'ann@garner.example', password: 'a long enough pass phrase' }
    expect((await call(`${real.url}/api/auth/sign-up/email`, { user: null, body })).status).toBe(200)
    await real.stop()
    for (const role of ['all', 'step']) {
      const demo = await runGarner([role, '--demo'], { GARNER_DATA: real.dataDir })
      expect([role, demo.code, demo.stdout]).toEqual([role, 2, ''])
      expect(demo.stderr).toContain('real accounts')
    }
    const onAll = await startGarner({ args: ['all', '--host', '0.0.0.0'], dataDir: real.dataDir })
    expect(onAll.url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/)
  })
})
