import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { MUTANTS } from './index.ts'
import { type Found, withinOf } from './search.ts'

const README = fileURLToPath(new URL('../../README.md', import.meta.url))
const BEGIN = '<!-- mutants: npm run sim -- --mutants -->'
const END = '<!-- /mutants -->'

/** How many seeds the committed table gives each mutant, by its name. */
export function committedTable(): Map<string, number> {
  const rows = readFileSync(README, 'utf8').split(BEGIN)[1]?.split(END)[0]?.split('\n') ?? []
  const cells = rows
    .filter((row) => row.startsWith('| '))
    .map((row) => row.split('|').map((cell) => cell.trim()))
  return new Map(cells.slice(1).map((row) => [row[1]!, Number(row[4])]))
}

/** Writes the table into the README. `found`: in the order of MUTANTS. */
export function writeTable(found: (Found | null)[]): void {
  const rows = MUTANTS.map(({ name }, n) => {
    const one = found[n]
    if (!one) return `| ${name} | not found | | |`
    return `| ${name} | ${one.violation.promise} | ${one.seeds} | ${withinOf(one.seeds)} |`
  })
  const head = ['| guard that is missing | found by | after seeds | within (tested) |', '|---|---|---|---|']
  const table = [BEGIN, '', ...head, ...rows, '', END].join('\n')
  const text = readFileSync(README, 'utf8')
  const [before] = text.split(BEGIN)
  const after = text.split(END)[1]
  if (before === text || after === undefined) throw new Error(`${README} has no ${BEGIN} … ${END}.`)
  writeFileSync(README, `${before}${table}${after}`)
}
