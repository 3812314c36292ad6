import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@garner/db'
import { expect, onTestFinished, test } from 'vitest'
import { until } from './redis-server.ts'

const RATE = 40
const program = fileURLToPath(new URL('./holder-child.ts', import.meta.url))

/** Real processes on one SQLite file, each of which wants all of the budget. */
class Processes {
  readonly #dir = mkdtempSync(join(tmpdir(), 'garner-cache-'))
  readonly #all: ChildProcess[] = []
  /** When each read was sent, ms of the machine's monotonic clock. */
  readonly sentMs: number[] = []
  readonly bySender = new Map<ChildProcess, number>()

  start(name: string, secondsAhead = 0): ChildProcess {
    const path = join(this.#dir, 'budget.sqlite')
    const child = spawn(process.execPath, [program, path, name, String(RATE), String(secondsAhead)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let rest = ''
    child.stdout!.on('data', (chunk) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop()!
      this.bySender.set(child, (this.bySender.get(child) ?? 0) + lines.length)
      for (const line of lines) this.sentMs.push(Number(BigInt(line) / 1_000n) / 1_000)
    })
    this.#all.push(child)
    return child
  }

  sentBy(child: ChildProcess): number {
    return this.bySender.get(child) ?? 0
  }

  worstPerSecond(): number {
    const sent = this.sentMs.toSorted((a, b) => a - b)
    let worst = 0
    for (let last = 0, first = 0; last < sent.length; last++) {
      while (sent[last]! - sent[first]! >= 1_000) first++
      worst = Math.max(worst, last - first + 1)
    }
    return worst
  }

  async end(): Promise<void> {
    for (const child of this.#all) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    }
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

/**
 * Takes real time, since a lease's seconds pass in other processes: about ten seconds. What it looks at is what was
 * sent when, not how long anything took.
 */
test('four processes on one file, their clocks an hour apart: one is stopped for longer than its lease and goes on, one is killed, one leaves, others come', {
  timeout: 60_000,
}, async () => {
  const clock = systemClock()
  const fleet = new Processes()
  onTestFinished(() => fleet.end())
  const [stopped, killed, leaving] = [fleet.start('a'), fleet.start('b', 3_600), fleet.start('c', -3_600)]
  fleet.start('d')
  for (const child of [stopped, killed, leaving]) await until(() => fleet.sentBy(child) > 3, 20_000)

  stopped.kill('SIGSTOP')
  await clock.sleep(1_000)
  const beforeItStopped = fleet.sentBy(stopped)
  killed.kill('SIGKILL')
  const newcomer = fleet.start('e', 7_200)
  await clock.sleep(3_500)
  leaving.kill('SIGTERM')
  stopped.kill('SIGCONT')
  await until(() => fleet.sentBy(stopped) > beforeItStopped && fleet.sentBy(newcomer) > 3, 20_000)
  await clock.sleep(2_000)

  expect(fleet.worstPerSecond()).toBeLessThanOrEqual(RATE)
  // Most of it was used, all of the time: that nothing is exceeded by doing nothing.
  const lastedMs = Math.max(...fleet.sentMs) - Math.min(...fleet.sentMs)
  expect((fleet.sentMs.length * 1_000) / lastedMs).toBeGreaterThan(RATE / 3)
})
