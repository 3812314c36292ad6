import { machine } from '../../lib/measure.ts'
import type { Case, Contender, Round, Settings } from '../cases/case.ts'
import { nowMs } from './clock.ts'
import { waitForQuiet, watchNoise } from './noise.ts'
import type { Limits } from './peer.ts'
import type { Result } from './result.ts'
import { limitTurns, peerTurn, Rounds, type Turn } from './turn.ts'

export interface SessionOptions {
  settings: Settings
  rounds: number
  /** Cores that others may use during a round before it is done again; Infinity: all. */
  noiseCores: number
  /** How long to wait for an idle machine before a round. */
  quietMs: number
  say(text: string): void
  emit(result: Result): void
}

export interface Yardstick {
  limits: Limits
  config: string
}

/** A round that was noisy is done again, this often at most; then the last one counts, and is marked. */
const RETRIES = 3

/**
 * Measures in turns: everyone has a first round, then everyone a second, and so on. A minute in which the machine was
 * slow is then in all of them, and their ratios are worth more than their figures.
 */
export class Session {
  readonly #startedAt = new Date().toISOString()
  readonly #options: SessionOptions

  constructor(options: SessionOptions) {
    this.#options = options
  }

  async run(one: Case, contenders: Contender[], yardsticks: Yardstick[]): Promise<void> {
    const { settings, rounds } = this.#options
    const turns: Turn[] = []
    for (const contender of contenders) {
      if (one.suits?.(contender.peer) ?? true) turns.push(await peerTurn(one, contender, settings))
    }
    for (const yardstick of yardsticks) turns.push(...(await limitTurns(one.name, yardstick, settings.ms)))
    await this.#takeTurns(one.name, turns, Math.min(rounds, one.roundsMax ?? rounds))
  }

  /** The limits that are no case's yardstick. */
  async runLimits(name: string, yardsticks: Yardstick[]): Promise<void> {
    for (const yardstick of yardsticks) {
      const turns = await limitTurns(name, yardstick, this.#options.settings.ms)
      await this.#takeTurns(name, turns, this.#options.rounds)
    }
  }

  async #takeTurns(name: string, turns: Turn[], count: number): Promise<void> {
    const all = turns.map((turn) => ({ turn, rounds: new Rounds() }))
    for (const { turn, rounds } of all) {
      await attempt(rounds, async () => {
        rounds.notes = await turn.prepare()
      })
    }
    for (let i = 0; i < count; i++) {
      for (const { turn, rounds } of all) {
        if (rounds.error === undefined) await attempt(rounds, () => this.#round(name, turn, rounds))
      }
    }
    for (const { turn, rounds } of all) this.#emit(name, turn, rounds)
  }

  async #round(name: string, turn: Turn, rounds: Rounds): Promise<void> {
    const { noiseCores, quietMs, say } = this.#options
    for (let tries = 0; ; tries++) {
      if (noiseCores !== Number.POSITIVE_INFINITY) await waitForQuiet(quietMs)
      const { round, ms, cores } = await watched(turn)
      const figures = round.measured.map(({ measure, value }) => `${measure} ${value.toPrecision(4)}`)
      const others = `${(ms / 1000).toFixed(1)} s, others ${cores.toFixed(2)} cores`
      say(`${name} ${turn.peer}:${turn.config} ${figures.join(', ')} (${others})`)
      const isNoisy = cores > noiseCores
      if (isNoisy && tries < RETRIES) continue
      rounds.add(round, { cores, isNoisy })
      return
    }
  }

  #emit(name: string, { peer, config, description }: Turn, rounds: Rounds): void {
    const { say, emit } = this.#options
    const { foreignCores, noisyRounds, notes, error } = rounds
    const of = { session: this.#startedAt, machine: machine(), peer, config, ...description, case: name }
    for (const [measure, { unit, values }] of rounds.measures) {
      emit({ ...of, measure, unit, values, foreignCores, noisyRounds, notes })
    }
    if (error === undefined) return
    say(`${name} ${peer}:${config} failed: ${error.stack}`)
    const text = error.message.split('\n')[0]!.slice(0, 300)
    emit({ ...of, measure: '', unit: '', values: [], error: text, foreignCores, noisyRounds, notes })
  }
}

/** One that fails has no further rounds, and the others go on. */
async function attempt(rounds: Rounds, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    rounds.error = error instanceof Error ? error : new Error(String(error))
  }
}

async function watched(turn: Turn): Promise<{ round: Round; ms: number; cores: number }> {
  const noise = watchNoise()
  const startedMs = nowMs()
  try {
    const round = await turn.round()
    return { round, ms: nowMs() - startedMs, cores: noise.stop() }
  } catch (error) {
    noise.stop()
    throw error
  }
}
