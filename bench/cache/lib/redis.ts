import { load } from './packages.ts'

interface Client {
  get(key: string): Promise<string | null>
  set(key: string, text: string, px: 'PX', ms: number): Promise<unknown>
  disconnect(): void
  ping(): Promise<unknown>
}

/** A client of the peers' own version. */
export async function connected(url: string): Promise<Client> {
  const { default: Redis } = await load<{ default: new (url: string) => Client }>('ioredis')
  const client = new Redis(url)
  await client.ping()
  return client
}
