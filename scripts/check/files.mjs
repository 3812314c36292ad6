import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

const notOurs = new Set([
  '.git',
  'node_modules',
  'dist',
  'dist.next',
  'dist.old',
  'data',
  'coverage',
  '.setup',
])

/**
 * The repository's own files, relative to its root with `/` between folders: what git knows or would add. Without git
 * (an unpacked archive), everything but packages, builds and data.
 *
 * @param {string} root
 * @returns {string[]}
 */
export function ownFiles(root) {
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 64 * 1024 * 1024,
    })
    // A file that was deleted and not yet committed is still listed.
    const files = listed.split('\0').filter((path) => path && existsSync(join(root, path)))
    if (files.length > 0) return [...new Set(files)].sort()
  } catch {
    // Not a git checkout, or no git.
  }
  /** @type {string[]} */
  const found = []
  const visit = (/** @type {string} */ folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!notOurs.has(entry.name)) visit(path)
      } else found.push(relative(root, path).replaceAll('\\', '/'))
    }
  }
  visit(root)
  return found.sort()
}
