import { spawn } from 'node:child_process'

/** Programs started by this process that still run: a Ctrl+C must not leave an npm behind that writes on. */
const running = new Set()

/** Ends every program started here. For signal handlers. */
export function stopChildren() {
  for (const child of running) child.kill('SIGTERM')
}

/**
 * Runs a program to its end and collects what it says, so that a success stays quiet and a failure can be explained.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv, onStart?: (pid: number) => void }} options
 * @returns {Promise<{ code: number, output: string }>} `code` is 127 when the program could not be started at all
 */
export function run(command, args, { cwd, env = process.env, onStart }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (/** @type {Buffer} */ chunk) => {
      output += chunk
    }
    running.add(child)
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    if (child.pid !== undefined) onStart?.(child.pid)
    child.on('error', (error) => {
      running.delete(child)
      resolve({ code: 127, output: `${output}${error.message}` })
    })
    child.on('close', (code) => {
      running.delete(child)
      resolve({ code: code ?? 1, output })
    })
  })
}
