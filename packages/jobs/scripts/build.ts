/**
 * The packages as others take them. In the workspace a package exports its TypeScript sources, which Node runs as
 * they are; below `node_modules` Node refuses to, so what is published is built: a folder with JavaScript and
 * declarations, the migrations, README, LICENSE and CHANGELOG, and a `package.json` made from the workspace's own.
 *
 * Promises. Nothing in the sources' folders is written, so others may work in them meanwhile. What is built is what
 * the exports reach and nothing else: no tests, no sources. The workspace's `exports` is the only list of entries.
 * Cut in the middle: a half-filled folder below `into`, which the next build into the same place empties first.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const root = fileURLToPath(new URL('../../..', import.meta.url))
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))

/** In the order of their dependencies: each is built against the declarations of those before it. */
export const WORKSPACES = ['packages/db', 'packages/jobs']
export const ALL_WORKSPACES = [...WORKSPACES, 'packages/cache']

/** What the published manifest keeps; `scripts` and `devDependencies` are the workspace's own business. */
const KEPT = [
  ...['name', 'version', 'description', 'keywords', 'license', 'author', 'homepage', 'repository', 'bugs'],
  ...['type', 'engines', 'peerDependencies', 'peerDependenciesMeta'],
]

interface Manifest {
  name: string
  version: string
  exports: Record<string, string>
  dependencies?: Record<string, string>
  [field: string]: unknown
}

export interface Built {
  name: string
  version: string
  /** What `npm pack` and `npm publish` are to be given. */
  folder: string
  /** Each entry's declarations, by its subpath (`.`, `./sqlite`). */
  declarations: Record<string, string>
}

/**
 * Builds each package into a folder of its own below `into`. `into` is inside the repository, so that declarations
 * find the types of the packages they name.
 * Errors: what the compiler said.
 */
export async function buildPackages(into: string, workspaces = WORKSPACES): Promise<Built[]> {
  const built: Built[] = []
  for (const workspace of workspaces) built.push(await buildPackage(workspace, into, built))
  return built
}

async function buildPackage(workspace: string, into: string, before: readonly Built[]): Promise<Built> {
  const source = join(root, workspace)
  const manifest: Manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'))
  const folder = join(into, manifest.name.replace('@', '').replace('/', '-'))
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await compile(source, manifest, folder, before)
  for (const entry of Object.values(manifest.exports)) await copyMigrations(source, dirname(entry), folder)
  for (const name of ['README.md', 'CHANGELOG.md']) await copyFile(join(source, name), join(folder, name))
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const published = JSON.stringify(publishedManifest(manifest, before), null, 2)
  await writeFile(join(folder, 'package.json'), `${published}\n`)
  const declarations = mapped(manifest.exports, (entry) => join(folder, emitted(entry, '.d.ts')))
  return { name: manifest.name, version: manifest.version, folder, declarations }
}

/** JavaScript and declarations of what the entries reach. */
async function compile(source: string, manifest: Manifest, folder: string, before: readonly Built[]) {
  const paths: Record<string, string[]> = {}
  for (const { name, declarations } of before) {
    for (const [subpath, file] of Object.entries(declarations)) paths[name + subpath.slice(1)] = [file]
  }
  const compilerOptions = {
    ...{ noEmit: false, noEmitOnError: true, declaration: true, newLine: 'lf', paths },
    ...{ rootDir: source, outDir: join(folder, 'dist'), typeRoots: [join(root, 'node_modules/@types')] },
  }
  const files = Object.values(manifest.exports).map((entry) => join(source, entry))
  const project = `${folder}.tsconfig.json`
  const base = join(root, 'tsconfig.base.json')
  await writeFile(project, JSON.stringify({ extends: base, compilerOptions, files }))
  try {
    await run(process.execPath, [join(typescript, 'bin/tsc'), '-p', project], { cwd: root })
  } catch (error) {
    const said = (error as { stdout?: string }).stdout || String(error)
    throw new Error(`Building ${relative(root, source)} failed:\n${said}`, { cause: error })
  } finally {
    await rm(project, { force: true })
  }
}

/** The SQL beside an entry: a store finds its migrations relative to itself. */
async function copyMigrations(source: string, beside: string, folder: string): Promise<void> {
  const from = join(source, beside, 'migrations')
  if (!existsSync(from)) return
  const to = join(folder, 'dist', beside, 'migrations')
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    if (name.endsWith('.sql')) await copyFile(join(from, name), join(to, name))
  }
}

function publishedManifest(manifest: Manifest, before: readonly Built[]): Record<string, unknown> {
  const kept = Object.fromEntries(
    KEPT.filter((field) => field in manifest).map((field) => [field, manifest[field]]),
  )
  // The exact version, not a range: they are released together, and the seam between them is not a public promise.
  const ours = new Map(before.map(({ name, version }) => [name, version]))
  const { dependencies = {} } = manifest
  return {
    ...kept,
    exports: mapped(manifest.exports, (entry) => ({
      types: `./${emitted(entry, '.d.ts')}`,
      default: `./${emitted(entry, '.js')}`,
    })),
    dependencies: Object.fromEntries(
      Object.entries(dependencies).map(([name, range]) => [name, ours.get(name) ?? range]),
    ),
  }
}

/** Where the compiler puts what comes of `./src/index.ts`. */
function emitted(entry: string, extension: string): string {
  return join('dist', entry).replaceAll('\\', '/').replace(/\.ts$/, extension)
}

function mapped<A, B>(values: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]))
}
