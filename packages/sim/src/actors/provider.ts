import { type Job, type Json, NotBilled, Retry } from '@garner/jobs'
import type { ProviderAct } from '../plan/plan.ts'
import type { Life } from '../world/machine.ts'
import type { World } from '../world/world.ts'

/** Who asks the provider, for which part of which job. */
export interface Call {
  life: Life
  job: Job
  step: string
  act: ProviderAct
}

/** How a try ends whose call the provider has refused. */
export const REFUSED = 'provider_busy'

/** 90 s: longer than any try waits. */
const DAWDLE_MS = 90_000

/**
 * Somebody outside who works for money: a vision model. The bill is written when the request arrives, whatever
 * becomes of the answer and of who asked. With ids it can be asked for the result again; without, it cannot.
 */
export class Provider {
  readonly #world: World
  #bills = 0
  #ways = 0

  constructor(world: World) {
    this.#world = world
  }

  /** One call that is answered with the result. */
  async ask(call: Call): Promise<Json> {
    return this.#answer(await this.#arrive(call), call)
  }

  /** A call that is answered with the provider's id for it; the result is asked for by that. */
  async start(call: Call): Promise<string> {
    return this.#arrive(call)
  }

  async result(id: string, call: Call): Promise<Json> {
    await this.#way(call.life)
    return this.#answer(id, call)
  }

  /** Answers the call's id; its result has the same number. */
  async #arrive({ life, job, step, act }: Call): Promise<string> {
    let id = ''
    const of = { by: life.name, jobId: job.id, tenant: job.tenant, epoch: job.epoch, step }
    await this.#way(life, () => {
      if (act === 'cuts' || act === 'refuses') return
      id = `call-${++this.#bills}`
      this.#world.note('provider', `bills ${job.id}@${job.epoch} ${step}`)
      this.#world.see({ what: 'billed', ...of })
    })
    if (act === 'cuts') throw new Retry('connection_cut')
    if (act === 'refuses') this.#world.see({ what: 'unbilled', ...of })
    if (act === 'refuses') throw new NotBilled(REFUSED, new Retry(REFUSED, { afterMs: 2_000 }))
    return id
  }

  async #answer(id: string, { life, act }: Call): Promise<Json> {
    if (act === 'bills-and-cuts') throw new Retry('connection_cut')
    if (act === 'bills-and-dawdles') await life.clock.sleep(DAWDLE_MS)
    return `estimate of ${id}`
  }

  /** There and back; `effect` happens there. */
  #way(life: Life, effect: () => void = () => {}): Promise<void> {
    const world = this.#world
    const place = ++this.#ways
    return new Promise((resolve) => {
      life.whenRunning(() => {
        world.timeline.after(5 + world.latencyMs('provider', place, 'there'), () => {
          effect()
          life.receive(20 + world.latencyMs('provider', place, 'back'), resolve)
        })
      })
    })
  }
}
