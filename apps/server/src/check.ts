import { existsSync } from 'node:fs'
import type { Clock, Database } from '@garner/db'
import { pendingMigrations, StoreUnavailable } from '@garner/db'
import type { Config } from './config.ts'
import { type Backend, backendOf } from './database.ts'
import { createProvider } from './provider.ts'

/**
 * `garner check`: the effective configuration with secrets hidden, whether the vision model sees (one paid call, where a
 * provider is set up), and what is missing or simulated.
 */
export async function checkReport(config: Config, clock: Clock): Promise<string[]> {
  const lines = [`Garner, data in ${config.dataDir}, ${config.isDemo ? 'demo mode' : 'normal mode'}`, '']
  for (const { name, value, isDefault, isUsed } of config.settings) {
    const notes = [isDefault ? 'default' : 'set', ...(isUsed ? [] : ['no effect in this version'])]
    lines.push(`${name.padEnd(32)} ${(value === '' ? '-' : value).padEnd(24)} (${notes.join(', ')})`)
  }
  lines.push('', `Vision: ${await visionState(config, clock)}`)
  lines.push('', 'Missing or simulated:')
  lines.push(...(await missing(config, clock)).map((line) => `  ${line}`))
  return lines
}

async function missing(config: Config, clock: Clock): Promise<string[]> {
  const lines: string[] = []
  lines.push(...(await databaseState(config, clock)))
  if (config.isDemo) {
    lines.push(
      'people: simulated. The header X-Demo-User chooses alice, bob, carol or admin; there are no passwords.',
    )
    lines.push('the internet: simulated by a built-in site, except for hosts in GARNER_FETCH_ALLOW.')
  }
  if (config.fault !== '') lines.push(`faults: put in on purpose at ${config.fault}.`)
  if (config.advanceMs > 0) lines.push(`clock: ${config.advanceMs / 1000} s ahead.`)
  lines.push('photos in S3: not in this version.')
  return lines
}

/** What a picture whose content is known comes back as; never the key. */
async function visionState(config: Config, clock: Clock): Promise<string> {
  const vision = createProvider(config, clock)
  try {
    const { finding, detail } = await vision.test(new AbortController().signal)
    return `${finding.replaceAll('_', ' ')}. ${detail}`
  } finally {
    await vision.close()
  }
}

async function databaseState(config: Config, clock: Clock): Promise<string[]> {
  const { database } = config
  if (database.dialect === 'sqlite' && !existsSync(database.path))
    return ['database: not made yet; the first start makes it.']
  try {
    const backend = await backendOf(database.dialect)
    return await stateOf(backend.open(config, clock), { config, backend })
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return [`database: ${config.databaseName} cannot be used (${error.reason}).`]
  }
}

async function stateOf(
  db: Database,
  { config, backend }: { config: Config; backend: Backend },
): Promise<string[]> {
  try {
    const pending = await pendingMigrations(db, backend.migrations)
    if (pending.length > 0) return [`database: ${pending.length} migrations to do; the next start does them.`]
    const admin = await db.read.get(
      "SELECT 1 FROM users WHERE role = 'admin' AND status = 'approved' AND demo = 0",
    )
    return admin || config.isDemo ? [] : ['admin: none yet; the first visit creates it.']
  } finally {
    await db.close()
  }
}
