import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { sleep } from './clock.ts'

/**
 * Was the machine ours during a round? Sums the processor time of every process that is not a descendant of this one
 * (the session starts its servers itself, so they are). Needs /proc: on other systems nothing is seen and 0 is said.
 */
interface Process {
  parent: number
  ticks: number
  startedAt: string
  nice: number
}

/** Clock ticks per second in /proc: 100 on every Linux that Node runs on. */
const HZ = 100
const KTHREADD = 2
const hasProc = existsSync('/proc/stat')

function processes(): Map<number, Process> {
  const found = new Map<number, Process>()
  if (!hasProc) return found
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
      // The command's name is in parentheses and may hold any character, so fields are counted from its end.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      found.set(Number(entry), {
        parent: Number(fields[1]),
        ticks: Number(fields[11]) + Number(fields[12]),
        nice: Number(fields[16]),
        startedAt: fields[19] ?? '',
      })
    } catch {
      // It ended between the listing and the reading.
    }
  }
  return found
}

/** Ticks of each process that is not ours, by an identity that a reused process id does not share. */
function foreignTicks(): Map<string, number> {
  const all = processes()
  const ours = new Set([process.pid])
  for (let grew = true; grew; ) {
    grew = false
    for (const [pid, { parent }] of all) {
      if (ours.has(pid) || !ours.has(parent)) continue
      ours.add(pid)
      grew = true
    }
  }
  const foreign = new Map<string, number>()
  for (const [pid, { parent, ticks, nice, startedAt }] of all) {
    if (ours.has(pid) || parent === KTHREADD || pid === KTHREADD || pid === 1) continue
    // One of nice 5 and up yields to ours (a weight of 110 against 1024 at nice 10), so it counts a tenth.
    foreign.set(`${pid}:${startedAt}`, nice >= 5 ? ticks / 10 : ticks)
  }
  return foreign
}

/** Watches from now on; `stop` answers the cores that others have used on average. */
export function watchNoise(): { stop(): number } {
  let before = foreignTicks()
  let ticks = 0
  const startedMs = performance.now()
  const look = () => {
    const after = foreignTicks()
    for (const [id, used] of after) ticks += Math.max(0, used - (before.get(id) ?? 0))
    before = after
  }
  const timer = setInterval(look, 500)
  return {
    stop() {
      clearInterval(timer)
      look()
      return ticks / HZ / Math.max(0.05, (performance.now() - startedMs) / 1000)
    },
  }
}

/** Waits until the machine is nearly idle, at most `maxMs`. */
export async function waitForQuiet(maxMs: number): Promise<void> {
  if (!hasProc) return
  const untilMs = performance.now() + maxMs
  while (performance.now() < untilMs) {
    const before = idleAndTotal()
    await sleep(250)
    const after = idleAndTotal()
    if ((after.idle - before.idle) / (after.total - before.total) > 0.85) return
  }
}

function idleAndTotal(): { idle: number; total: number } {
  const [first] = readFileSync('/proc/stat', 'utf8').split('\n')
  const fields = first!.trim().split(/\s+/).slice(1).map(Number)
  // nice, idle and waiting for the disk: time that a benchmark could have had.
  const idle = fields[1]! + fields[3]! + fields[4]!
  return { idle, total: fields.reduce((sum, one) => sum + one, 0) }
}
