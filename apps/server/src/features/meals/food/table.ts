import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { createMatch, type Food, type Match } from './match.ts'

/**
 * The food table (README.md), read by the first who asks and kept: 7 MB of memory, some tens of
 * milliseconds. Processes without photos never read it.
 * The file belongs to the program: that it cannot be read is a broken installation, and is said as such.
 */
let loading: Promise<Match> | null = null

export function foodTable(): Promise<Match> {
  loading ??= load()
  return loading
}

type Row = [string, string, number, number, number, number, number, ...unknown[]]

async function load(): Promise<Match> {
  const packed = await readFile(new URL('usda-sr24-foods.json.gz', import.meta.url))
  const { foods } = JSON.parse((await promisify(gunzip)(packed)).toString('utf8')) as { foods: Row[] }
  return createMatch(foods.map(toFood))
}

function toFood([id, name, energyKcal, proteinG, carbohydrateG, fatG, fiberG]: Row): Food {
  return { id, name, energyKcal, proteinG, carbohydrateG, fatG, fiberG }
}
