/**
 * One instance of a fleet, for processes.test.ts: `node holder-child.ts DATABASE NAME RATE SECONDS_AHEAD`. Wants to read
 * all the time, and prints a line for each read that the budget lets through: when it was sent, in ns of the machine's
 * monotonic clock, which is the same for all processes.
 */
import { migrate, systemClock } from '@garner/db'
import { openSqlite } from '@garner/db/sqlite'
import { OriginBudget } from '../src/budget.ts'
import { budgetMigrations, createSqliteLedger } from '../src/sqlite/ledger.ts'

const [path, name, rate, secondsAhead] = process.argv.slice(2) as [string, string, string, string]
const clock = systemClock(Number(secondsAhead) * 1_000)
const db = openSqlite({ path, clock })
await migrate(db, [budgetMigrations], clock)
const budget = new OriginBudget({
  ledger: createSqliteLedger({ db }),
  budget: 'reads',
  capacity: { rate: Number(rate), concurrency: 8, loadMaxMs: 1_000 },
  ...{ holder: name, incarnation: `${name}-${process.pid}`, clock, random: Math.random },
})
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
const running = budget.run(stop.signal)

async function read(): Promise<void> {
  try {
    await budget.enter({ rank: 'read', untilMs: clock.monotonicMs() + 100 }).admitted
  } catch {
    return
  }
  process.stdout.write(`${process.hrtime.bigint()}\n`)
  await clock.sleep(1 + Math.random() * 20)
  budget.end()
}

while (!stop.signal.aborted) {
  void read()
  await clock.sleep(5)
}
await running
await db.close()
