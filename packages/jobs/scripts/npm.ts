import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** What an outer npm says of its own command; one that runs inside it must not take that for its own. */
const OUTER = ['workspace', 'workspaces', 'include_workspace_root', 'omit', 'production', 'only', 'dry_run']

/** Runs npm in `cwd`, answers what it printed. Errors: its exit, with `stdout` and `stderr`. */
export async function npm(args: string[], { cwd }: { cwd: string }): Promise<string> {
  const env = { ...process.env }
  for (const name of OUTER) delete env[`npm_config_${name}`]
  const { stdout } = await promisify(execFile)('npm', args, { cwd, env })
  return stdout
}
