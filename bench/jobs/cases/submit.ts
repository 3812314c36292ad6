import type { Load } from '../lib/messages.ts'
import { produceWith } from '../lib/spawn.ts'
import { type Case, type Contender, perCallOf, type Round } from './case.ts'

async function submitted(
  { peer, config }: Contender,
  load: Load,
  notes: Record<string, number>,
): Promise<Round> {
  await peer.reset(config)
  const { jobs, ms } = await produceWith({ peer: peer.name, config, load })
  return { measured: [{ measure: 'rate', unit: 'jobs/s', value: jobs / (ms / 1000) }], notes }
}

export const submit: Case = {
  name: 'submit',
  about: 'One producer process, one caller: each call is awaited before the next.',
  round: (contender, { ms }) => submitted(contender, { load: 'awaited', ms }, {}),
}

const CALLERS = 50

export const submit50: Case = {
  name: 'submit-50',
  about: 'One producer process, 50 callers: each awaits its call, then calls again.',
  round: (contender, { ms }) =>
    submitted(contender, { load: 'callers', callers: CALLERS, ms }, { callers: CALLERS }),
}

export const submitMany: Case = {
  name: 'submit-many',
  about: "20,000 jobs through the library's batch call (one call after another where it has none).",
  round(contender, { jobs }) {
    const perCall = perCallOf(contender)
    const load: Load = { load: 'batches', jobs, perCall, maxMs: 60_000, isWarmed: true }
    return submitted(contender, load, { jobs, perCall })
  },
}
