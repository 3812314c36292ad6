import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { SetupFailure } from './failure.mjs'

/** The first npm that reads lock files of version 3 and knows workspaces. Node 18.0 came with 8.6. */
const NPM_MIN_MAJOR = 8

/**
 * The npm to install with: the one that runs this command, else the one beside this Node, else the one on the path.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} the path of npm-cli.js, to be run by any Node
 */
export function findNpm(env = process.env) {
  const found = candidates(env).find((path) => basename(path) === 'npm-cli.js' && existsSync(path))
  if (!found) {
    throw new SetupFailure(
      'npm was not found. It comes with Node: install Node 18 or newer from https://nodejs.org.',
    )
  }
  const { version } = JSON.parse(readFileSync(join(dirname(found), '..', 'package.json'), 'utf8'))
  if (Number.parseInt(version, 10) < NPM_MIN_MAJOR) {
    throw new SetupFailure(
      `npm ${version} is too old; Garner needs npm ${NPM_MIN_MAJOR} or newer. Run \`npm install -g npm\`, ` +
        'or install a newer Node, and try again.',
    )
  }
  return found
}

/** @param {NodeJS.ProcessEnv} env */
function candidates(env) {
  const beside = dirname(process.execPath)
  const onPath = (env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'npm'))
  return [
    env.npm_execpath ?? '',
    join(beside, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(beside, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    ...onPath.filter((path) => existsSync(path)).map((path) => realpathSync(path)),
  ]
}

/**
 * Switches for every npm call of the set-up. Warnings about the running Node's age are noise (the pinned Node does
 * the work), hence `error`. Three tries within about ten seconds: npm's own default keeps a machine without a
 * network waiting for more than a minute before it says so.
 */
export const quietly = [
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--prefer-offline',
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
]

/**
 * What npm passes to a script describes the outer command (its workspace, its omitted packages); an install inside
 * must not inherit that.
 *
 * @param {NodeJS.ProcessEnv} env
 */
export function environmentForNpm(env = process.env) {
  const clean = { ...env }
  for (const name of ['workspace', 'workspaces', 'omit', 'production', 'only', 'dry_run']) {
    delete clean[`npm_config_${name}`]
  }
  return clean
}
