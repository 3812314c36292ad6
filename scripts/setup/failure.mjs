/**
 * A set-up that cannot go on, said in one sentence a person can act on. Anything else that is thrown during the
 * set-up is a defect and keeps its stack.
 */
export class SetupFailure extends Error {
  /** @param {string} message @param {{ cause?: unknown }} [options] */
  constructor(message, options) {
    super(message, options)
    this.name = 'SetupFailure'
  }
}

/**
 * What npm prints, to what a person should do. The first match wins, so the order is from the cause to its effects: a
 * full disk also shows up as failed extractions, and a missing network as missing packages.
 *
 * @type {readonly { pattern: RegExp, sentence: string }[]}
 */
const knownCauses = [
  { pattern: /\bENOSPC\b/, sentence: 'The disk is full. Free about 1 GB and run the command again.' },
  {
    pattern: /\bEROFS\b|\bEACCES\b|\bEPERM\b/,
    sentence:
      'There is no permission to write here or in the npm cache. ' +
      'Run it as the owner of the folder, or clone Garner into a folder of your own.',
  },
  {
    pattern:
      /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/,
    sentence:
      'The npm registry could not be reached. Check the network (or the proxy, `npm config get https-proxy`) ' +
      'and run the command again; what was already downloaded is kept.',
  },
  {
    pattern: /CERT|self[- ]signed certificate/i,
    sentence:
      'The npm registry was reached, but its certificate was not accepted. ' +
      'Behind a company proxy, point `npm config set cafile` at its certificate.',
  },
  {
    pattern: /\bEUSAGE\b|can only install packages when your package\.json and package-lock\.json/,
    sentence:
      'package.json and package-lock.json do not agree. Run `npm install` once and commit the lock file.',
  },
  {
    pattern: /\bEINTEGRITY\b/,
    sentence:
      'A downloaded package is not the one the lock file names. Run `npm cache verify` and try again.',
  },
  {
    pattern: /\b(E404|ETARGET)\b/,
    sentence: 'The npm registry in use does not have one of the packages. Check `npm config get registry`.',
  },
]

/**
 * @param {string} output what npm wrote, both streams
 * @returns {string} a sentence; for causes not in the list, the last lines of what npm said
 */
export function explainNpmFailure(output) {
  const known = knownCauses.find(({ pattern }) => pattern.test(output))
  if (known) return known.sentence
  const lines = output.trim().split('\n').slice(-12)
  return `npm gave up. Its last words:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

/**
 * @param {unknown} error from a file operation of our own
 * @param {string} where the folder concerned
 * @returns {unknown} a SetupFailure for the causes a person can remove, else the error itself
 */
export function explainFileFailure(error, where) {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!/^(ENOSPC|EROFS|EACCES|EPERM)$/.test(code)) return error
  return new SetupFailure(`Cannot write in ${where}. ${explainNpmFailure(code)}`, { cause: error })
}
