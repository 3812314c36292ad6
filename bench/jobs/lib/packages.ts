import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The peers' packages, in a folder of their own beside this one: who uses Garner never downloads them. They are
 * loaded by a name that the compiler does not see, so that the types check also while they are not installed.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Manifest {
  version: string
  dependencies?: Record<string, string>
}

/**
 * Installs what bench/jobs/package-lock.json names, unless exactly that is there already. Errors: Error when npm
 * fails. Nothing that a package would run at its installation is run.
 */
export function ensurePackages(say: (text: string) => void): void {
  const wanted = readManifest(join(ROOT, 'package.json')).dependencies ?? {}
  const isThere = Object.entries(wanted).every(([name, version]) => installedVersion(name) === version)
  if (isThere) return
  say('installing the peers into bench/jobs/node_modules')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error(`npm ci in bench/jobs ended with ${status}.`)
}

function installedVersion(name: string): string | undefined {
  const path = join(ROOT, 'node_modules', name, 'package.json')
  return existsSync(path) ? readManifest(path).version : undefined
}

/** Errors: Error when the package is not installed. */
export function versionOf(name: string): string {
  const version = installedVersion(name)
  if (version === undefined) throw new Error(`${name} is not installed in bench/jobs.`)
  return version
}

/** A peer's module, as the part of it that is used here. */
export async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest
}
