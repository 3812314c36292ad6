import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Found, withinOf } from './search.ts'

const README = fileURLToPath(new URL('../../README.md', import.meta.url))
const END = '<!-- /mutants -->'

/** How many seeds the committed table of a simulation gives each mutant, by its name. */
export function committedTable({ option }: { option: string }): Map<string, number> {
  const rows = readFileSync(README, 'utf8').split(beginOf(option))[1]?.split(END)[0]?.split('\n') ?? []
  const cells = rows
    .filter((row) => row.startsWith('| '))
    .map((row) => row.split('|').map((cell) => cell.trim()))
  return new Map(cells.slice(1).map((row) => [row[1]!, Number(row[4])]))
}

/** Writes the table into the README. `found`: in the order of the mutants. */
export function writeTable(
  { option, mutants }: { option: string; mutants: { name: string }[] },
  found: (Found | null)[],
): void {
  const rows = mutants.map(({ name }, n) => {
    const one = found[n]
    if (!one) return `| ${name} | not found | | |`
    return `| ${name} | ${one.violation.promise} | ${one.seeds} | ${withinOf(one.seeds)} |`
  })
  const head = ['| guard that is missing | found by | after seeds | within (tested) |', '|---|---|---|---|']
  const begin = beginOf(option)
  const table = [begin, '', ...head, ...rows, '', END].join('\n')
  const text = readFileSync(README, 'utf8')
  const from = text.indexOf(begin)
  const to = text.indexOf(END, from)
  if (from < 0 || to < 0) throw new Error(`${README} has no ${begin} … ${END}.`)
  writeFileSync(README, `${text.slice(0, from)}${table}${text.slice(to + END.length)}`)
}

function beginOf(option: string): string {
  return `<!-- mutants: ${['npm run sim --', option, '--mutants'].filter(Boolean).join(' ')} -->`
}
