import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeOnPostgres, temporaryPostgres } from '../../../db/testing/postgres.ts'
import { root } from '../../scripts/build.ts'
import { npm } from '../../scripts/npm.ts'
import { type Packed, packPackages } from '../../scripts/pack.ts'
import { otherNode } from './other-node.ts'

/**
 * The packages as a stranger meets them: built, packed, installed from their tarballs into an empty project outside
 * this repository, and used there from plain files. The registry is needed for their dependencies, and once for the
 * other Node.
 */
const run = promisify(execFile)
const MINUTES = 60_000
const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name)
const FOLDERS: Record<string, string> = { '@garner/db': 'packages/db', '@garner/jobs': 'packages/jobs' }

/** 22 is the oldest that the packages name; in it node:sqlite has what they use from 22.16 on. */
const NODES: [string, () => Promise<string>][] = [
  ['the Node that runs the tests', async () => process.execPath],
  ['Node 22', () => otherNode('22.23.3')],
]

let into: string
let project: string
let packed: Packed[]

beforeAll(async () => {
  await mkdir(join(root, 'dist'), { recursive: true })
  into = await mkdtemp(join(root, 'dist/package-'))
  packed = await packPackages(into)
  project = await realpath(await mkdtemp(join(tmpdir(), 'garner-package-')))
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  await install(...packed.map(({ tarball }) => tarball))
}, 3 * MINUTES)

async function install(...what: string[]): Promise<void> {
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline', ...what], { cwd: project })
}

/** The version that this repository works with. */
function versionHere(name: string): string {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version
}

afterAll(async () => {
  await rm(into, { recursive: true, force: true })
  await rm(project, { recursive: true, force: true })
})

describe.each(Object.entries(FOLDERS))('%s', (name, folder) => {
  const sources = (pattern: string) =>
    globSync(pattern, { cwd: join(root, folder) }).map((path) => path.replaceAll('\\', '/'))
  const manifest = () => JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'))

  test('the tarball holds what its sources become, their migrations, four texts, and nothing else', () => {
    const isOurs = (path: string) => !path.endsWith('.test.ts') && !path.startsWith('src/observe/testing/')
    const suite =
      name === '@garner/jobs' ? ['testing/job-store.suite.ts', ...sources('testing/suite/*.ts')] : []
    const built = [...sources('src/**/*.ts').filter(isOurs), ...suite]
      .map((path) => `dist/${path.replace(/\.ts$/, '')}`)
      .flatMap((path) => [`${path}.js`, `${path}.d.ts`])
    const migrations = sources('src/*/migrations/*.sql').map((path) => `dist/${path}`)
    const texts = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']
    expect(packed.find((one) => one.name === name)!.files).toEqual([...built, ...migrations, ...texts].sort())
  })

  test('the manifest is free of the workspace: no scripts, no development, every export a built file', () => {
    const { scripts, devDependencies, private: isPrivate, exports, dependencies } = manifest()
    expect([scripts, devDependencies, isPrivate]).toEqual([undefined, undefined, undefined])
    const files = packed.find((one) => one.name === name)!.files
    for (const entry of Object.values(exports) as { types: string; default: string }[]) {
      expect(files).toEqual(expect.arrayContaining([entry.types.slice(2), entry.default.slice(2)]))
    }
    if (name === '@garner/jobs') expect(dependencies['@garner/db']).toMatch(/^\d+\.\d+\.\d+$/)
  })

  test('whatever is imported by name is Node itself or declared', () => {
    const { dependencies = {}, peerDependencies = {} } = manifest()
    const declared = new Set([name, ...Object.keys(dependencies), ...Object.keys(peerDependencies)])
    const cwd = join(project, 'node_modules', name, 'dist')
    const imported = globSync('**/*.{js,d.ts}', { cwd }).flatMap((path) =>
      [...readFileSync(join(cwd, path), 'utf8').matchAll(/(?:from|import\() ?['"]([^.'"][^'"]*)['"]/g)].map(
        ([, from]) => from!,
      ),
    )
    const packageOf = (from: string) =>
      from
        .split('/')
        .slice(0, from.startsWith('@') ? 2 : 1)
        .join('/')
    const undeclared = imported.filter((from) => !from.startsWith('node:') && !declared.has(packageOf(from)))
    expect(undeclared).toEqual([])
  })
})

test('who does not use PostgreSQL does not install it', () => {
  const installed = globSync('*', { cwd: join(project, 'node_modules') })
  expect(installed.filter((name) => !name.startsWith('.')).sort()).toEqual(['@garner', 'croner'])
})

test('packing a workspace folder itself is refused: it would install without a word and then not run', async () => {
  for (const folder of Object.values(FOLDERS)) {
    const packing = npm(['pack', '--dry-run'], { cwd: join(root, folder) })
    await expect(packing).rejects.toMatchObject({ stderr: expect.stringContaining('scripts/pack.ts') })
  }
})

/** Type-checks a fixture in the project; answers what the compiler said. */
async function compiled(name: string): Promise<string> {
  await cp(fixture(name), join(project, name))
  const compilerOptions = {
    ...{ module: 'nodenext', moduleResolution: 'nodenext', target: 'es2024', strict: true, noEmit: true },
    ...{ skipLibCheck: false, types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [name] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '-p', project]).catch((error) => error)
  return stdout
}

test('a TypeScript program type-checks against them, and what is wrong in it is found', async () => {
  expect(await compiled('consumer.ts')).toBe('')
})

describe.each(NODES)('on %s', (_name, nodeOf) => {
  let node: string
  beforeAll(async () => {
    node = await nodeOf()
  }, 3 * MINUTES)

  test("the README's program for SQLite runs", async () => {
    await cp(join(root, 'examples/jobs-on-sqlite.ts'), join(project, 'jobs-on-sqlite.ts'))
    const { stdout } = await run(node, ['jobs-on-sqlite.ts'], { cwd: project })
    expect(stdout.split('\n').slice(0, 2)).toEqual(['attempt 1: retried', 'attempt 2: published'])
  })

  test('the conformance suite runs from the package, on a store that a stranger opens', async () => {
    // Vitest is the stranger's own; here it is this repository's, under the name that the package asks for.
    await symlink(join(root, 'node_modules/vitest'), join(project, 'node_modules/vitest'), 'junction').catch(
      () => {},
    )
    await cp(fixture('conformance.ts'), join(project, 'conformance.test.ts'))
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const report = join(project, 'report.json')
    await rm(report, { force: true })
    const said = await run(
      node,
      [vitest, 'run', '--root', project, '--reporter', 'json', '--outputFile', report],
      {
        cwd: project,
      },
    ).catch((error) => error)
    if (!existsSync(report)) throw new Error(`Vitest did not run: ${said.stdout}${said.stderr}`)
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'))
    expect({ numFailedTests, isWhole: numPassedTests > 50 }).toEqual({ numFailedTests: 0, isWhole: true })
  })
})

describeOnPostgres('with PostgreSQL', () => {
  let databaseUrl: string
  beforeAll(async () => {
    databaseUrl = await temporaryPostgres()
    await install(...['pg', '@types/pg'].map((name) => `${name}@${versionHere(name)}`))
  }, 3 * MINUTES)

  test('a TypeScript program on PostgreSQL type-checks', async () => {
    expect(await compiled('consumer-postgres.ts')).toBe('')
  })

  test.each(NODES)("the README's program for PostgreSQL runs on %s", async (_name, nodeOf) => {
    await cp(join(root, 'examples/jobs-on-postgres.ts'), join(project, 'jobs-on-postgres.ts'))
    const env = { ...process.env, DATABASE_URL: databaseUrl }
    const { stdout } = await run(await nodeOf(), ['jobs-on-postgres.ts'], { cwd: project, env })
    expect(stdout.split('\n').slice(0, 2)).toEqual(['attempt 1: retried', 'attempt 2: published'])
  })
})
