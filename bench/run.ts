import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { cachedLists } from './cases/cached-lists.ts'
import { footprint } from './cases/footprint.ts'
import { lists } from './cases/lists.ts'
import { photos } from './cases/photos.ts'
import { saves, slowDisk } from './cases/saves.ts'
import { slowSite } from './cases/slow-site.ts'
import { uploads } from './cases/uploads.ts'
import { type Case, type Measure, machine, row } from './lib/measure.ts'

/**
 * `npm run bench [-- CASE …]`: runs the cases, prints a table for each, and writes the figures with the machine
 * they were measured on into bench/results/. Machines are shared and noisy: read ratios within one run, and the
 * spread, before single figures.
 */
const CASES: Case[] = [saves, slowDisk, slowSite, lists, cachedLists, footprint, photos, uploads]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !CASES.some((one) => one.name === name))
if (unknown.length > 0) {
  console.error(`No such case: ${unknown.join(', ')}. There are ${CASES.map((one) => one.name).join(', ')}.`)
  process.exit(2)
}
const results = fileURLToPath(new URL('results/', import.meta.url))
mkdirSync(results, { recursive: true })
console.log(machine())
for (const one of CASES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  console.log(`\n## ${one.name}\n\n${one.about}\n`)
  const measures = await one.run()
  const table = tableOf(measures)
  console.log(table)
  const day = new Date().toISOString().slice(0, 10)
  writeFileSync(
    `${results}${one.name}.json`,
    `${JSON.stringify({ case: one.name, about: one.about, day, machine: machine(), measures }, null, 2)}\n`,
  )
}

function tableOf(measures: Measure[]): string {
  return ['| what | median | spread | target | |', '|---|---|---|---|---|', ...measures.map(row)].join('\n')
}
