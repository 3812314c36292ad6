import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../../scripts/build.ts'
import { npm } from '../../scripts/npm.ts'

/**
 * The path of another version of Node, from npm's package for this machine. Kept in node_modules/.cache, so it is
 * fetched once for each clone (40 MB). Errors: what npm said, such as that there is no network.
 */
export async function otherNode(version: string): Promise<string> {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const folder = join(root, 'node_modules/.cache/garner', `node-${version}`)
  const isWindows = process.platform === 'win32'
  const node = join(folder, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node')
  if (existsSync(node)) return node
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  await npm(['install', '--no-audit', '--no-fund', '--no-save', `${name}@${version}`], { cwd: folder })
  return node
}
