import { connect, createServer, type Server, type Socket } from 'node:net'

/** A wire to a database that can be taken away, as when the server is stopped, and put back at the same address. */
export interface SwitchableProxy {
  /** The database's url through it. */
  url: string
  /** Nobody answers there any more, and all connections are cut. */
  off(): Promise<void>
  on(): Promise<void>
  close(): Promise<void>
}

export async function switchableProxy(databaseUrl: string): Promise<SwitchableProxy> {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let server: Server | null = null
  let listenPort = 0

  async function on(): Promise<void> {
    const opened = createServer((client) => {
      const upstream = connect(Number(port || 5432), hostname)
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(one)
        one.on('error', () => {})
        one.on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
        one.pipe(other)
      }
    })
    await new Promise<void>((resolve) => opened.listen(listenPort, '127.0.0.1', resolve))
    listenPort = (opened.address() as { port: number }).port
    server = opened
  }

  async function off(): Promise<void> {
    const closing = server
    server = null
    const closed = new Promise((resolve) => (closing ? closing.close(resolve) : resolve(undefined)))
    for (const one of sockets) one.destroy()
    await closed
  }

  await on()
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${listenPort}`
  return { url: url.href, on, off, close: off }
}
