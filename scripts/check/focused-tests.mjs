const testFile = /\.(?:test|suite)\.[cm]?[jt]sx?$/
const focus = /\b(?:it|test|describe|suite|bench)(?:\.\w+)*\.only\b/

/**
 * A test left focused turns every other test of its file off, and the run stays green.
 *
 * @param {readonly string[]} files
 * @param {(path: string) => string} read
 * @returns {string[]} one line per place, `path:line: the code`
 */
export function focusedTests(files, read) {
  return files
    .filter((path) => testFile.test(path))
    .flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => (focus.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    )
}
