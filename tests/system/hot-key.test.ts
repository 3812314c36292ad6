import { expect, test } from 'vitest'
import { launch } from './garner.ts'

/** The demonstration, shortened: real servers, a real shared cache, one list that has expired in all of them. */
test('npm run demo -- hot-key: one read for all with the shared cache, at most one per server without it', async () => {
  const args = ['--instances', '4', '--readers', '80', '--rounds', '1', '--budget', '30']
  const { output, exited } = launch(['demo/run.ts', 'hot-key', ...args], {}, { isGroup: true })
  expect(await exited, output.all).toEqual({ code: 0, signal: null })
  expect(output.stdout).toMatch(/^kept +with the shared cache it is read once for all: \d+ reads/m)
  expect(output.stdout).toMatch(/^kept +without the shared cache, .* by each of 4 servers: [1-4] reads/m)
  expect(output.stdout).toMatch(/^kept +every reader is answered or refused, once: 160 offered/m)
  expect(output.stdout).not.toContain('BROKEN')
}, 180_000)
