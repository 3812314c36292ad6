import { ensurePackages, versionOf } from '../lib/packages.ts'
import { withWorkplace } from '../lib/workplace.ts'
import { postgresBackend } from '../peers/garner-postgres.ts'
import { sqliteBackend } from '../peers/garner-sqlite.ts'
import { bullmqPgProbe, bullmqProbe } from './bullmq.ts'
import { garnerProbe } from './garner.ts'
import { graphileWorkerProbe } from './graphile-worker.ts'
import { litequeProbe } from './liteque.ts'
import { pgBossProbe } from './pg-boss.ts'
import { plainjobProbe } from './plainjob.ts'
import type { Probe } from './probe.ts'

const PROBES: Probe[] = [
  garnerProbe(sqliteBackend),
  garnerProbe(postgresBackend),
  graphileWorkerProbe,
  pgBossProbe,
  bullmqProbe,
  bullmqPgProbe,
  plainjobProbe,
  litequeProbe,
]

/** Prints what each library does with a stalled worker's late result, one JSON line each. Errors: Error for no such peer. */
export async function runFencing(names: string[], say: (text: string) => void): Promise<void> {
  const unknown = names.filter((name) => !PROBES.some(({ peer }) => peer === name))
  if (unknown.length > 0) {
    throw new Error(
      `No probe for ${unknown.join(', ')}. There are ${PROBES.map(({ peer }) => peer).join(', ')}.`,
    )
  }
  const probes = PROBES.filter(({ peer }) => names.length === 0 || names.includes(peer))
  ensurePackages(say)
  await withWorkplace(new Set(probes.map(({ server }) => server)), async () => {
    for (const { peer, library, run } of probes) {
      const version = library === undefined ? 'this repository' : versionOf(library)
      console.log(JSON.stringify({ peer, version, ...(await run()) }))
    }
  })
}
