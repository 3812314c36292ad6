import { expect, test } from 'vitest'
import { launch } from './garner.ts'

/**
 * The demonstration, shortened: real servers on one database, the shared cache killed and started again, the budget not
 * renewed for longer than a share lasts, one server killed, another stopped for longer than its lease.
 */
test('npm run demo -- under-load: every promise is kept, and the run says so', async () => {
  const load = ['--instances', '3', '--rate', '150', '--lists', '30', '--budget', '30']
  const args = ['--seconds', '16', '--without-shared', '4', ...load]
  const { output, exited } = launch(['demo/run.ts', 'under-load', ...args], {}, { isGroup: true })
  expect(await exited, output.all).toEqual({ code: 0, signal: null })
  expect(output.stdout).toMatch(/^kept +never more than 30 reads of the database in any one second/m)
  expect(output.stdout).toMatch(/^kept +every read is answered or refused, once/m)
  expect(output.stdout).toMatch(/^kept +without the shared cache none is lost either/m)
  expect(output.stdout).not.toContain('BROKEN')
  // Measured, not judged: this machine may have other things to do.
  expect(output.stdout).toMatch(
    /^(met|missed) +without the shared cache, \d+ refusals beyond .*: p99 \S+ ms, at most/m,
  )
  expect(output.stdout).toMatch(
    /^(met|missed) +what each instance keeps in memory, .*: (\d+ → \d+(, | MB)){3}/m,
  )
  // A line for each second, with something in it: two more for the scene that was made longer.
  const lines = [...output.stdout.matchAll(/^ +(\d+) +(\d+) +\d+ +\d+ +\d+ +\d+ +\d+ +\d+ +\d+ .*$/gm)]
  expect(lines.map(([, second]) => Number(second))).toEqual(Array.from({ length: 18 }, (_, n) => n + 1))
}, 180_000)

test('the demonstration says what is wrong with its options', async () => {
  const { output, exited } = launch(['demo/run.ts', 'under-load', '--seconds', '3'], {})
  expect((await exited).code).toBe(2)
  expect(output.stderr).toContain('--seconds 3: expected a whole number, 14 or more')
})
