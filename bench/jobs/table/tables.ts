import { show } from '../../lib/measure.ts'
import type { Result } from '../lib/result.ts'
import { type Figure, figureOf } from '../lib/statistics.ts'
import { type Against, TARGETS, type Target } from './targets.ts'
import { databaseOf, type Verdict, verdictOf } from './verdict.ts'

/**
 * Targets, what was measured, and by how much each is met or missed. One row for each configuration of the store but
 * its `default`: a target is for the best settings that are documented.
 */
export function targetsTable(results: readonly Result[], store: Target['store']): string {
  const its = results.filter(({ peer, config }) => peer === store && config !== 'default')
  const configs = [...new Set(its.map(({ config }) => config))]
  const verdicts = TARGETS.filter((target) => target.store === store).flatMap((target) =>
    (configs.length > 0 ? configs : ['best']).map((config) => verdictOf(target, config, results)),
  )
  return table(
    ['case', 'setting', 'measured (spread)', 'held against', 'target', 'reached (spread)', ''],
    verdicts.map(targetRow),
  )
}

function targetRow({ target, config, measured, yardstick, figure, isMet }: Verdict): string[] {
  const what = target.measure === 'rate' ? target.case : `${target.case}, ${target.measure}`
  const unit = measured?.unit ?? ''
  const against = yardstick ? againstOf(yardstick, target) : wanted(target.against)
  const verdict = isMet === undefined ? 'not measured' : isMet ? 'met' : '**missed**'
  return [
    what,
    config,
    measured ? spread(figureOf(measured.values), unit) : '',
    against,
    bound(target.against),
    figure ? spread(figure, target.against.kind === 'value' ? unit : '×') : '',
    verdict,
  ]
}

function againstOf(yardstick: Result, { against }: Target): string {
  const value = `${show(figureOf(yardstick.values).median)} ${yardstick.unit}`
  if (against.kind === 'self') return `its own ${yardstick.case}, ${yardstick.measure}: ${value}`
  if (against.kind === 'raw') return `${yardstick.peer}, ${yardstick.measure}: ${value}`
  return `${yardstick.peer}:${yardstick.config}${yardstick.isSynced ? '' : ' (not synced)'}: ${value}`
}

/** What a target that could not be judged would have been held against. */
function wanted(against: Against): string {
  if (against.kind === 'self') return `its own ${against.case}, ${against.measure}`
  if (against.kind === 'raw') return 'the raw limit'
  if (against.kind === 'peer') return against.peer ?? 'the fastest peer'
  return ''
}

function bound(against: Against): string {
  const sign = against.kind === 'value' ? ` ${against.unit}` : ' ×'
  const parts = [
    'atLeast' in against && against.atLeast !== undefined ? `≥ ${against.atLeast}${sign}` : '',
    'atMost' in against && against.atMost !== undefined ? `≤ ${against.atMost}${sign}` : '',
  ]
  return parts.filter(Boolean).join(', ')
}

/** Everything that was measured in one case: one row for each contender and measure, the latest session of each. */
export function caseTable(results: readonly Result[], name: string): string {
  const latest = new Map<string, Result>()
  for (const one of results.filter((each) => each.case === name)) {
    const key = [databaseOf(one), one.peer, one.config, one.measure].join(' ')
    const known = latest.get(key)
    if (!known || known.session <= one.session) latest.set(key, one)
  }
  return table(
    ['who', 'version', 'store', 'durability', 'what', 'median (spread)', 'rounds', 'noise'],
    [...latest.values()].map((one) => [
      `${one.peer}:${one.config}`,
      one.version,
      one.backend,
      `${one.durability}${one.isSynced ? '' : ' (not synced)'}`,
      one.measure,
      one.values.length > 0
        ? spread(figureOf(one.values), one.unit)
        : `failed: ${one.error ?? 'no reason given'}`,
      String(one.values.length),
      `${one.foreignCores.toFixed(2)} cores${one.noisyRounds > 0 ? `, ${one.noisyRounds} rounds too noisy` : ''}`,
    ]),
  )
}

function spread({ median, low, high }: Figure, unit: string): string {
  return `${show(median)} ${unit} (${show(low)} to ${show(high)})`
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
