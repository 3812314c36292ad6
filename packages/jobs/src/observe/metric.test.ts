import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ATTEMPT_METRICS, DURATION_BUCKETS, STORE_METRICS } from './metric.ts'

const page = readFileSync(new URL('../../docs/observing.md', import.meta.url), 'utf8')

test('the page that documents the metrics has each of them, with its type and labels, and no other', () => {
  const rows = [...page.matchAll(/^\| (`garner_\w+` \| \w+ \| [^|]*) \|/gm)].map(([, row]) => row)
  const metrics = [...Object.values(ATTEMPT_METRICS), ...Object.values(STORE_METRICS)]
  expect(rows).toEqual(
    metrics.map(({ name, type, labels }) => {
      const listed = labels.map((label) => `\`${label}\``).join(', ')
      return `\`${name}\` | ${type} | ${listed}`
    }),
  )
})

test('the page has the buckets of the histograms', () => {
  expect(page.replaceAll('\n', ' ')).toContain(`${DURATION_BUCKETS.join(', ')}.`)
})
