import { systemClock } from '../src/clock.ts'
import { openSqlite } from '../src/sqlite/database.ts'

/**
 * A process that dies in the middle: `node crash-child.ts PATH before-commit|after-commit` kills itself at that
 * point of a batch of 20 transactions; `node crash-child.ts PATH endless` writes until it is killed, and prints the
 * number of each transaction that it was told is durable.
 */
const [path, point] = process.argv.slice(2) as [string, string]
let isArmed = false
const die = () => process.kill(process.pid, 'SIGKILL')

const db = openSqlite({
  path,
  clock: systemClock(),
  aroundCommit(effect) {
    if (isArmed && point === 'before-commit') die()
    effect()
    if (isArmed && point === 'after-commit') die()
  },
})

/** Two rows that belong together. */
const pair = (n: number) =>
  db.transaction(async (tx) => {
    await tx.run("INSERT INTO pairs VALUES (?, 'first')", n)
    await tx.run("INSERT INTO pairs VALUES (?, 'second')", n)
  })

await db.transaction((tx) => tx.run('CREATE TABLE pairs (n INTEGER, half TEXT)'))
if (point === 'endless') {
  for (let n = 0; ; n += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => pair(n + i)))
    process.stdout.write(`${n + 19}\n`)
  }
} else {
  await pair(0)
  isArmed = true
  await Promise.all(Array.from({ length: 20 }, (_, i) => pair(i + 1)))
}
