/** Milliseconds on the machine's monotonic clock, which all its processes share: start and end may be in two of them. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
