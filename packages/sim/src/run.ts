import { type Job, PENDING_STATES } from '@garner/jobs'
import { submit } from './actors/client.ts'
import { Office } from './actors/office.ts'
import { type OperatorCommand, operate } from './actors/operator.ts'
import { Provider } from './actors/provider.ts'
import { WorkerProcess } from './actors/worker.ts'
import type { Checker, Final } from './checks/checker.ts'
import { CHECKERS } from './checks/index.ts'
import { signaturesOf } from './checks/signature.ts'
import type { Mutation } from './mutants/mutant.ts'
import type { Command, Plan } from './plan/plan.ts'
import type { Report, Violation } from './simulation.ts'
import { Server } from './store/server.ts'
import { Machine, WallClock } from './world/machine.ts'
import { World } from './world/world.ts'

/**
 * N: claims of all workers together, made while something was due, from the healing to the last job's end. What takes
 * longest is a key whose jobs must start apart and whose store's clock was set back by 2 minutes: three workers that
 * poll every 500 ms meanwhile. What never ends needs any number.
 */
const CLAIMS_TO_END = 3_000
/** As true time. A plan's longest waits (a clock set back, a job for later, a backoff, a lease) are 4 minutes together. */
const TIME_TO_END_MS = 900_000

/**
 * Runs a plan to its end: first what it asks for and what goes wrong, under the eyes of all checkers (safety); then
 * everything heals, and every job must end (liveness); then what is stored is compared with what was seen. The same
 * plan gives the same report, line by line.
 */
export async function run(plan: Plan, mutation?: Mutation): Promise<Report> {
  return new Run(mutation?.plan?.(plan) ?? plan, mutation).play()
}

class Run {
  readonly #plan: Plan
  readonly #world: World
  readonly #server: Server
  readonly #machines = new Map<string, Machine>()
  readonly #workers: WorkerProcess[]
  readonly #offices = new Map<string, Office>()
  readonly #checkers: { name: string; checker: Checker }[]
  readonly #seen = new Map<string, number>()
  readonly #submitted: string[] = []
  /** Jobs that have not ended, and from when on they may be done, by the store's clock. */
  readonly #pending = new Map<string, number>()
  #violation: Violation | null = null
  #ids = 0
  #claimsToEnd = 0
  /** When liveness began to count. */
  #settledAtMs: number | null = null

  constructor(plan: Plan, mutation?: Mutation) {
    this.#plan = plan
    this.#world = new World(plan)
    this.#server = new Server(this.#world, { bounds: plan.bounds, mutation })
    const provider = new Provider(this.#world)
    this.#workers = plan.workers.map((one) => {
      const machine = this.#machine(one.name, one.skewMs)
      return new WorkerProcess({
        ...{ server: this.#server, provider, machine, plan: one, kinds: plan.kinds },
        remembersAccounts: mutation?.remembersAccounts ?? false,
      })
    })
    for (const name of ['web-1', 'web-2', 'ops']) {
      this.#offices.set(name, new Office(this.#server, this.#machine(name, 0)))
    }
    this.#checkers = CHECKERS.map(({ name, make }) => {
      const broken = (story: string) => this.#broken(name, story)
      const activeMs = (by: string) => this.#activeMs(by)
      return { name, checker: make({ plan, app: this.#server.app, broken, activeMs }) }
    })
    this.#world.onlooker((happening, at) => {
      this.#follow(happening)
      for (const one of signaturesOf(happening)) this.#seen.set(one, (this.#seen.get(one) ?? 0) + 1)
      for (const { checker } of this.#checkers) checker.see(happening, at)
    })
  }

  async play(): Promise<Report> {
    const { timeline } = this.#world
    const { commands, faults, healAtMs } = this.#plan
    for (const one of this.#workers) one.start()
    for (const one of this.#offices.values()) one.start()
    for (const one of commands) timeline.at(one.atMs, () => this.#obey(one))
    for (const fault of faults) {
      if (fault.do === 'outage' || 'call' in fault) continue
      timeline.at(fault.atMs, () => {
        if (fault.do === 'jump') this.#wallOf(fault.machine)?.jump(fault.byMs)
        else this.#hit(fault.machine, fault)
      })
    }
    timeline.at(healAtMs, () => this.#heal())
    await timeline.run(() => this.#isOver())
    if (!this.#violation) await this.#judgeTheEnd()
    for (const machine of this.#machines.values()) machine.crash()
    return {
      violation: this.#violation,
      trace: this.#world.trace,
      seen: this.#seen,
      sums: { jobs: this.#submitted.length, events: timeline.ran },
      most: {
        'claims to the end after the healing': this.#claimsToEnd,
        'ms to the end after the healing': timeline.nowMs - (this.#settledAtMs ?? healAtMs),
      },
    }
  }

  #machine(name: string, skewMs: number): Machine {
    const { timeline } = this.#world
    const machine = new Machine({
      name,
      timeline,
      wall: new WallClock(timeline, this.#plan.startMs + skewMs),
    })
    this.#machines.set(name, machine)
    return machine
  }

  #wallOf(name: string | null): WallClock | undefined {
    return name === null ? this.#world.storeClock : this.#machines.get(name)?.wall
  }

  #hit(name: string, fault: { do: 'crash' | 'stall'; forMs: number }): void {
    const machine = this.#machines.get(name)
    if (!machine?.life) return
    this.#world.note(machine.life.name, fault.do === 'crash' ? 'crashes' : 'stands still')
    if (fault.do === 'stall') {
      machine.life.stall(fault.forMs)
    } else {
      machine.crash()
      machine.onDown?.(fault.forMs)
    }
  }

  #obey(command: Command): void {
    const world = this.#world
    if (command.do === 'stop') {
      const worker = this.#workers.find((one) => one.machine.name === command.worker)
      void worker?.stop(command.graceMs, command.forMs)
      return
    }
    if (command.do !== 'submit') {
      this.#operate(command)
      return
    }
    const kinds = new Map(this.#plan.kinds.map((one) => [one.kind, one]))
    const ids = () => `job-${String(++this.#ids).padStart(4, '0')}`
    const versionOf = (subject: string) => this.#server.app.get('subjects', subject)?.version ?? 1
    this.#offices
      .get(command.by)
      ?.do((life, connection) => submit({ world, life, connection, kinds, ids, versionOf }, command))
  }

  #operate(command: OperatorCommand): void {
    const world = this.#world
    const jobOf = (which: number) => this.#submitted.at(which % this.#submitted.length)
    this.#offices.get('ops')?.do((life, connection) => operate({ world, life, connection, jobOf }, command))
  }

  /** Everybody is up and well; what was asked before is done; then nothing is paused, and nothing new comes by itself. */
  #heal(): void {
    const { timeline } = this.#world
    this.#world.heal()
    for (const machine of this.#machines.values()) machine.life?.wakeUp()
    for (const one of [...this.#offices.values(), ...this.#workers]) if (!one.machine.life) one.start()
    const settle = () => {
      if (this.#isBusy) return void timeline.after(200, settle)
      for (const { kind } of this.#plan.kinds) this.#operate({ atMs: 0, do: 'resume', kind })
      for (const one of this.#plan.commands) {
        if (one.do === 'schedule') this.#operate({ atMs: 0, do: 'unschedule', name: one.name })
      }
      this.#settledAtMs = timeline.nowMs
    }
    settle()
  }

  get #isBusy(): boolean {
    return [...this.#offices.values()].some((one) => one.isBusy)
  }

  #follow(happening: Parameters<Checker['see']>[0]): void {
    const isNew = (happening.what === 'submitted' && !happening.isRepeat) || happening.what === 'fired'
    if (isNew) this.#submitted.push((happening as { job: Job }).job.id)
    if (happening.what === 'seen') {
      const { job } = happening
      if (job && PENDING_STATES.includes(job.state)) this.#pending.set(job.id, job.runAtMs)
      else this.#pending.delete(happening.id)
    }
    if (happening.what === 'claimed' && this.#settledAtMs !== null) {
      const storeMs = this.#world.storeClock.nowMs()
      if ([...this.#pending.values()].some((runAtMs) => runAtMs <= storeMs)) this.#claimsToEnd++
    }
    if (happening.what === 'fault' && isInvariant(happening.error)) {
      this.#broken('invariants', String((happening.error as Error).message))
    }
  }

  #isOver(): boolean {
    if (this.#violation) return true
    if (this.#settledAtMs === null) return false
    if (!this.#isBusy && this.#pending.size === 0) return true
    const sinceMs = this.#world.timeline.nowMs - this.#settledAtMs
    if (this.#claimsToEnd <= CLAIMS_TO_END && sinceMs <= TIME_TO_END_MS) return false
    const left = [...this.#pending.keys()].join(', ') || 'somebody who asked'
    const promise = this.#plan.hints.lost === 1 ? 'J2 a hint is only a hint' : 'liveness'
    this.#broken(promise, `${left} did not end within ${this.#claimsToEnd} claims and ${sinceMs} ms`)
    return true
  }

  async #judgeTheEnd(): Promise<void> {
    const { store } = this.#server
    const jobs: Final['jobs'] = new Map()
    for (const { id } of await store.list({ limit: 100_000 })) {
      jobs.set(id, { ...(await store.get(id))!, steps: await store.steps(id) })
    }
    const final: Final = {
      jobs,
      stepsOf: (id) => store.steps(id),
      allowance: (of) => store.allowance(of),
      totals: await store.totals(),
      storeMs: this.#world.storeClock.nowMs(),
    }
    for (const { checker } of this.#checkers) await checker.end?.(final)
  }

  #activeMs(by: string): number {
    const [machine, number] = by.split('.')
    const life = this.#machines.get(machine!)?.life
    return life && life.number === Number(number) ? life.activeMs : 0
  }

  #broken(promise: string, story: string): void {
    this.#violation ??= { promise, story, atMs: this.#world.timeline.nowMs }
    this.#world.note(promise, `is broken: ${story}`)
  }
}

function isInvariant(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'INVARIANT_BROKEN'
}
