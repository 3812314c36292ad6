import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CASES, LIMITS_CASE } from '../cases/index.ts'
import { parseResults } from '../lib/result.ts'
import { caseTable, targetsTable } from './tables.ts'

/** Prints the targets and then every case, from the files given, or from all that are in `folder`. */
export function printTables(folder: string, files: string[]): void {
  const all = files.length > 0 ? files : filesIn(folder)
  const results = all.flatMap((file) => parseResults(readFileSync(file, 'utf8')))
  if (results.length === 0)
    throw new Error(`No results in ${all.join(', ') || folder}. Measure something first.`)
  for (const machine of new Set(results.map((one) => one.machine))) console.log(machine)
  console.log(`\n## SQLite\n\n${targetsTable(results, 'garner-sqlite')}`)
  console.log(`\n## PostgreSQL\n\n${targetsTable(results, 'garner-postgres')}`)
  const about = new Map(CASES.map((one) => [one.name, one.about]))
  about.set(LIMITS_CASE, 'What the disk and the databases give with no library at all.')
  for (const [name, text] of about) {
    if (!results.some((one) => one.case === name)) continue
    console.log(`\n### ${name}\n\n${text}\n\n${caseTable(results, name)}`)
  }
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(folder, name))
}
