import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The secret that signs cookies, kept in the data folder: made at the first start, the same at every later one and
 * in every process. Written whole under another name first and then linked into place, which only one of two
 * processes that start together can do; the other reads what the first one made. Cut anywhere: there is a whole
 * secret, or none yet.
 */
export function readOrMakeSecret(dataDir: string, randomBytes: (n: number) => Uint8Array): string {
  const path = join(dataDir, 'secret')
  const known = read(path)
  if (known !== undefined) return known
  mkdirSync(dataDir, { recursive: true })
  const made = Buffer.from(randomBytes(32)).toString('base64url')
  const draft = `${path}.${Buffer.from(randomBytes(6)).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  writeSync(file, made)
  fsyncSync(file)
  closeSync(file)
  try {
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return read(path)!
}

function read(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim()
    if (text.length < 32) throw new Error(`${path} is not a secret of Garner (shorter than 32 characters).`)
    return text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
