import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The peers' packages, in a folder of their own beside this one: who uses Garner never downloads them. They are loaded
 * by a name that the compiler does not see, so that the types check also while they are not installed.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Installs what package-lock.json names, unless it is there. Errors: when npm fails. Nothing of a package is run. */
export function ensurePackages(): void {
  const { dependencies } = manifest(join(ROOT, 'package.json'))
  if (Object.entries(dependencies ?? {}).every(([name, version]) => versionOf(name) === version)) return
  console.error('# installing the peers into bench/cache/node_modules')
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, { cwd: ROOT, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm ci in bench/cache ended with ${status}.`)
}

/** Undefined when it is not installed. */
export function versionOf(name: string): string | undefined {
  const path = join(ROOT, 'node_modules', name, 'package.json')
  return existsSync(path) ? manifest(path).version : undefined
}

/** A peer's module, as the part of it that is used here. */
export async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T
}

function manifest(path: string): { version: string; dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(path, 'utf8'))
}
