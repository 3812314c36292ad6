import { writeFileSync } from 'node:fs'

/**
 * Counts for the last line of `npm test`, over all projects.
 *
 * A file that cannot be loaded, a hook that throws and an error outside of any test leave no failed test behind; each
 * counts as one failure, or a broken file would read as "0 failed".
 *
 * @param {readonly CountedModule[]} modules
 * @param {readonly unknown[]} unhandledErrors
 * @returns {Counts}
 */
export function count(modules, unhandledErrors) {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
  for (const module of modules) {
    let failedHere = 0
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') counts.passed += 1
      else if (state === 'failed') failedHere += 1
      else counts.skipped += 1
    }
    if (failedHere === 0 && !module.ok()) failedHere = 1
    counts.failed += failedHere
  }
  return counts
}

/** @param {Counts} counts */
export const plainLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`

/** Vitest loads this as a reporter; where to write comes from scripts/test.mjs. */
export default class CountingReporter {
  /** @param {readonly CountedModule[]} modules @param {readonly unknown[]} unhandledErrors */
  onTestRunEnd(modules, unhandledErrors) {
    const path = process.env.TEST_COUNTS_PATH
    if (path) writeFileSync(path, JSON.stringify(count(modules, unhandledErrors)))
  }
}

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {{
 *   ok(): boolean,
 *   children: { allTests(): Iterable<{ result(): { state: string } }> },
 * }} CountedModule the part of Vitest's TestModule that is used
 */
