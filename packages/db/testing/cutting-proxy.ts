import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface CuttingProxy {
  /** The database's url through it. */
  url: string
  /**
   * Cuts the connection on which `text` is sent next: once the server has answered it, and before the client hears of
   * that. What was asked has been done by then, and nobody is told.
   */
  cutAnswerTo(text: string): void
  /** Resolves once that has happened. */
  hasCut(): Promise<void>
}

/** A wire between a client and its database that can be cut at the worst moment. Ends with its test. */
export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  let wanted: string | null = null
  let cut = Promise.withResolvers<void>()
  const url = await proxy(databaseUrl, (client, upstream) => {
    let isDoomed = false
    client.on('data', (chunk) => {
      if (wanted !== null && chunk.includes(wanted)) {
        wanted = null
        isDoomed = true
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (!isDoomed) {
        client.write(chunk)
        return
      }
      client.destroy()
      upstream.destroy()
      cut.resolve()
    })
  })
  return {
    url,
    cutAnswerTo(text) {
      wanted = text
      cut = Promise.withResolvers()
    },
    hasCut: () => cut.promise,
  }
}

/** A wire that counts in how many pieces the client has sent what it asked. Ends with its test. */
export async function countingProxy(databaseUrl: string): Promise<{ url: string; sent: () => number }> {
  let sent = 0
  const url = await proxy(databaseUrl, (client, upstream) => {
    client.on('data', (chunk) => {
      sent++
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => client.write(chunk))
  })
  return { url, sent: () => sent }
}

export interface SilentProxy {
  /** The database's url through it. */
  url: string
  silence(): void
  /** Once the client sends `text`, which does not arrive. */
  silenceAt(text: string): void
}

/** A wire that stays open and carries nothing any more once it is silenced. Ends with its test. */
export async function silentProxy(databaseUrl: string): Promise<SilentProxy> {
  let isSilent = false
  let last: string | null = null
  const url = await proxy(databaseUrl, (client, upstream) => {
    client.on('data', (chunk) => {
      if (last !== null && chunk.includes(last)) isSilent = true
      if (!isSilent) upstream.write(chunk)
    })
    upstream.on('data', (chunk) => !isSilent && client.write(chunk))
  })
  return {
    url,
    silence() {
      isSilent = true
    },
    silenceAt(text) {
      last = text
    },
  }
}

/** @param join says what becomes of the data; answers the database's url through it */
async function proxy(databaseUrl: string, join: (client: Socket, upstream: Socket) => void): Promise<string> {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  // A socket that its other end has closed is not closed by itself here: a silent server would not answer that, either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(port || 5432), hostname)
    for (const one of [client, upstream]) {
      sockets.add(one)
      one.on('error', () => {})
    }
    join(client, upstream)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const one of sockets) one.destroy()
    server.close()
  })
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  return url.href
}
