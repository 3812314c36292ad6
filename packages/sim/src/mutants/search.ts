import type { AnyPlan, Mutant, Simulation, Violation } from '../simulation.ts'

export interface Found {
  /** The first seed, from 1 on, under which one of the mutant's promises is broken: as many were tried. */
  seeds: number
  violation: Violation
}

/** Tries seeds from 1 on until the mutant is found; null when `seedsMost` do not find it. */
export async function search<P extends AnyPlan, M>(
  { generate, run }: Pick<Simulation<P, M>, 'generate' | 'run'>,
  { mutation, promises }: Mutant<M>,
  seedsMost: number,
): Promise<Found | null> {
  for (let seeds = 1; seeds <= seedsMost; seeds++) {
    const { violation } = await run(generate(seeds), mutation)
    if (violation && promises.includes(violation.promise)) return { seeds, violation }
  }
  return null
}

/**
 * What the table promises: four times what was measured, since every change of the library or the generator deals the
 * seeds anew, and never less than 20.
 */
export function withinOf(seeds: number): number {
  return Math.max(20, Math.ceil((4 * seeds) / 10) * 10)
}
