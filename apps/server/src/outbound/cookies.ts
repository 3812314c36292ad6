/**
 * The cookies of one fetch, forgotten with it. Many sites answer the first request with a cookie and a redirect
 * to the same address, for ever unless the cookie comes back. Each goes back to exactly the origin that set it.
 * Names and values are opaque; attributes are ignored, since nothing outlives the fetch.
 */
export class Cookies {
  readonly #byOrigin = new Map<string, Map<string, string>>()

  keep(url: URL, setCookie: readonly string[]): void {
    const jar = this.#byOrigin.get(url.origin) ?? new Map<string, string>()
    for (const line of setCookie) {
      const [, name, value] = /^\s*([^=;\s]+)\s*=\s*([^;]*)/.exec(line) ?? []
      // Bounds against a server that fills our next request: 50 cookies of 4 KiB is what browsers keep per site.
      if (name === undefined || value === undefined || line.length > 4096 || jar.size >= 50) continue
      if (!/^[\x21-\x7e]*$/.test(name) || !/^[\x20-\x7e]*$/.test(value)) continue
      jar.set(name, value.trim())
    }
    if (jar.size > 0) this.#byOrigin.set(url.origin, jar)
  }

  /** The Cookie header for a request; undefined when there is nothing to send. */
  header(url: URL): string | undefined {
    const jar = this.#byOrigin.get(url.origin)
    return jar && [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  }
}
