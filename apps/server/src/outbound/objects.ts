import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock } from '@garner/db'

/**
 * Where photos are kept: bytes under a key of two parts, whose they are and which one (`<user>/<entry>`), so that
 * everything of a person is one folder.
 *
 * Promises. What `put` has answered for survives a crash and a power cut, whole, under its name. A key is there whole
 * or not at all, whoever looks and whenever. Nothing is ever changed in place: a key is put once.
 * Assumes. Whoever puts says so in a row afterwards; what no row knows of is an orphan, and the sweep's to remove.
 * Cut in `put` before the rename: a file in `.incoming` that no key leads to, swept after an hour. Cut after it: an orphan.
 * Cut in `remove` or `removeAll`: what is left is an orphan.
 */
export interface Objects {
  /** Durable when it resolves. Errors: those of the file system (a full disk among them); then nothing is kept. */
  put(key: string, bytes: Uint8Array): Promise<void>
  /** undefined: there is no such thing. */
  get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** The same, piece by piece. */
  open(key: string): Promise<{ bytes: number; stream: Readable } | undefined>
  /** What is not there is gone already. */
  remove(key: string): Promise<void>
  /** Everything of one owner. */
  removeAll(owner: string): Promise<void>
  /** Everything there is, in no order. */
  list(): AsyncIterable<ObjectEntry>
  /** Drops what interrupted calls of `put` have left. */
  sweepIncoming(): Promise<void>
}

export interface ObjectEntry {
  key: string
  owner: string
  putAtMs: number
}

/** An id of ours, or of a sign-in library: nothing that means something in a path. */
const PART = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/
/** Not a possible owner, so no key leads into it. */
const INCOMING = '.incoming'
/** 1 h: a put takes milliseconds; on a dying disk it may take minutes. */
const INCOMING_MAX_MS = 3_600_000

/** @param dir made when first needed, readable by this user alone */
export function createFolder({ dir, clock, ids }: { dir: string; clock: Clock; ids: () => string }): Objects {
  const incoming = join(dir, INCOMING)

  async function put(key: string, bytes: Uint8Array): Promise<void> {
    const { owner, path } = placeOf(dir, key)
    const folder = join(dir, owner)
    await mkdir(incoming, { recursive: true, mode: 0o700 })
    const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined
    const temporary = join(incoming, ids())
    try {
      await writeSynced(temporary, bytes)
      const at = new Date(clock.nowMs())
      // Its age is what the sweep goes by, so it is told by the same clock.
      await utimes(temporary, at, at)
      await rename(temporary, path)
      await syncFolder(folder)
      if (isNew) await syncFolder(dir)
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
  }

  return {
    put,
    async get(key) {
      const bytes = await ifThere(readFile(placeOf(dir, key).path))
      return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    },
    async open(key) {
      const { path } = placeOf(dir, key)
      const file = await ifThere(open(path))
      if (!file) return undefined
      const { size } = await file.stat()
      return { bytes: size, stream: createReadStream(path, { fd: file }) }
    },
    async remove(key) {
      await rm(placeOf(dir, key).path, { force: true })
    },
    async removeAll(owner) {
      assertPart(owner)
      await rm(join(dir, owner), { recursive: true, force: true })
    },
    async *list() {
      for (const owner of (await ifThere(readdir(dir))) ?? []) {
        if (!PART.test(owner)) continue
        for (const name of (await ifThere(readdir(join(dir, owner)))) ?? []) {
          const found = PART.test(name) ? await ifThere(stat(join(dir, owner, name))) : undefined
          if (found?.isFile()) yield { key: `${owner}/${name}`, owner, putAtMs: found.mtimeMs }
        }
      }
    },
    async sweepIncoming() {
      for (const name of (await ifThere(readdir(incoming))) ?? []) {
        const path = join(incoming, name)
        const found = await ifThere(stat(path))
        if (found && found.mtimeMs < clock.nowMs() - INCOMING_MAX_MS) await rm(path, { force: true })
      }
    },
  }
}

function placeOf(dir: string, key: string): { owner: string; path: string } {
  const [owner = '', name = '', ...more] = key.split('/')
  assertPart(owner)
  assertPart(name)
  if (more.length > 0) throw new RangeError('A key has two parts.')
  return { owner, path: join(dir, owner, name) }
}

function assertPart(part: string): void {
  if (!PART.test(part)) throw new RangeError('A part of a key is letters, digits, - and _.')
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The name itself is durable only once its folder is. */
async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle
  try {
    folder = await open(path, 'r')
  } catch (error) {
    // Windows opens no folders, and makes renames durable by itself.
    if (
      (error as NodeJS.ErrnoException).code === 'EISDIR' ||
      (error as NodeJS.ErrnoException).code === 'EPERM'
    )
      return
    throw error
  }
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function ifThere<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
