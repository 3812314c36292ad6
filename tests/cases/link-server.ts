import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** serve_links.mjs in a process of its own, so that what it holds in memory is not counted as the fetcher's. */
export interface LinkServer {
  base: string
  port: number
  trap: string
  trapPort: number
  /** id → the address to give to the product. */
  addresses: Map<string, string>
  hits(): Promise<Record<string, Hits | undefined>>
  reset(): Promise<void>
  stop(): Promise<void>
}

export interface Hits {
  requests: number
  sent: number
  hung_up: number
  targets: string[]
}

export async function startLinkServer(): Promise<LinkServer> {
  const script = fileURLToPath(new URL('serve_links.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const { base, trap } = await firstLine(child)
  const control = async <T>(path: string) => (await (await fetch(`${base}${path}`)).json()) as T
  const listed = await control<{ id: string; url: string }[]>('/__cases')
  return {
    base,
    port: Number(new URL(base).port),
    trap,
    trapPort: Number(new URL(trap).port),
    addresses: new Map(listed.map(({ id, url }) => [id, url])),
    hits: () => control('/__hits'),
    reset: async () => {
      await control('/__reset')
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}

async function firstLine(child: ChildProcess): Promise<{ base: string; trap: string }> {
  for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line)
  throw new Error('serve_links.mjs ended before it said where it listens')
}
