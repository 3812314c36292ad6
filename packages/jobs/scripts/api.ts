/**
 * `node packages/jobs/scripts/api.ts`: writes docs/api.md from the docstrings of what the packages export.
 * `--check`: writes nothing, and ends with 1 when the page is not what the docstrings say now.
 *
 * Reads the declarations as they are published (build.ts), so the page can hold nothing that others cannot import.
 * The compiler's own API reads them. It calls itself unstable; the compiler's version is pinned, and if a newer one
 * changes it, this stops at once and says so.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { API, type Project, SymbolFlags } from 'typescript/unstable/sync'
import { type Declared, declared } from './api-declared.ts'
import { type Built, buildPackages, root } from './build.ts'

const PAGE = join(root, 'packages/jobs/docs/api.md')

const HEAD = `# API

Everything the packages export, from the docstrings; made by \`node packages/jobs/scripts/api.ts\`, not by hand.
\`@garner/db\` comes with \`@garner/jobs\`: the databases and the clock are opened with it.
`

interface Entry {
  /** What is written in an import: \`@garner/jobs/sqlite\`. */
  specifier: string
  names: Declared[]
  /** Exported here too, documented under another entry. */
  elsewhere: { name: string; specifier: string }[]
}

/** The page's text, and what is exported without a word. */
export async function apiPage(): Promise<{ text: string; undocumented: string[] }> {
  await mkdir(join(root, 'dist'), { recursive: true })
  const into = await mkdtemp(join(root, 'dist/api-'))
  try {
    const built = await buildPackages(into)
    const entries = await read(into, [...built].reverse())
    const all = entries.flatMap(({ specifier, names }) => names.map((one) => ({ specifier, one })))
    const undocumented = all
      .filter(({ one }) => one.doc === '')
      .map(({ specifier, one }) => `${specifier} ${one.name}`)
    return { text: [HEAD, contents(entries), ...entries.map(section)].join('\n'), undocumented }
  } finally {
    await rm(into, { recursive: true, force: true })
  }
}

/** What each entry exports, read by the compiler. */
async function read(into: string, packages: readonly Built[]): Promise<Entry[]> {
  const files = packages.flatMap(({ name, declarations }) =>
    Object.entries(declarations).map(([subpath, file]) => ({ specifier: name + subpath.slice(1), file })),
  )
  const paths = Object.fromEntries(files.map(({ specifier, file }) => [specifier, [file]]))
  const project = join(into, 'tsconfig.json')
  const compilerOptions = { paths, typeRoots: [join(root, 'node_modules/@types')] }
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions,
    files: files.map(({ file }) => file),
  }
  await writeFile(project, JSON.stringify(config))
  const api = new API({ cwd: root })
  try {
    const opened = api.updateSnapshot({ openProjects: [project] }).getProjects()[0]
    if (!opened) throw new Error(`The compiler did not open ${project}.`)
    const seen = new Map<string, string>()
    return files.map(({ specifier, file }) => entryOf(opened, specifier, file, seen))
  } finally {
    api.close()
  }
}

/** `seen`: where each declaration is documented; the first entry that exports it has it. */
function entryOf(project: Project, specifier: string, file: string, seen: Map<string, string>): Entry {
  const { checker, program } = project
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) throw new Error(`${file} is not a module that the compiler has read.`)
  const entry: Entry = { specifier, names: [], elsewhere: [] }
  for (const exported of checker.getExportsOfModule(module)) {
    const isAlias = (exported.flags & SymbolFlags.Alias) !== 0
    const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported
    const nodes = symbol.declarations
      .map((handle) => handle.resolve(project))
      .filter((node) => node !== undefined)
    const [first] = nodes
    if (!first)
      throw new Error(`${specifier} exports ${exported.name}, whose declaration is not to be found.`)
    const where = `${first.getSourceFile().fileName}:${first.pos}`
    const known = seen.get(where)
    if (known) entry.elsewhere.push({ name: exported.name, specifier: known })
    else entry.names.push(declared(exported.name, nodes))
    seen.set(where, known ?? specifier)
  }
  entry.names.sort(byName)
  entry.elsewhere.sort(byName)
  return entry
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1
}

function contents(entries: readonly Entry[]): string {
  return entries
    .map(({ specifier, names, elsewhere }) => {
      const links = names.map(({ name }) => `[${name}](#${name.toLowerCase()})`)
      const others = elsewhere.map(({ name }) => `[${name}](#${name.toLowerCase()})`)
      return `- \`${specifier}\`: ${[...links, ...others].join(', ')}\n`
    })
    .join('')
}

function section({ specifier, names, elsewhere }: Entry): string {
  const shown = names.map(described)
  const rest = elsewhere.map(({ name, specifier }) => `\`${name}\` is that of \`${specifier}\`.\n`)
  return [`## ${specifier}\n`, ...shown, ...rest].join('\n')
}

function described({ name, doc, code, members }: Declared): string {
  const list = members.map((one) => `- \`${one.name}\`: ${one.doc.replaceAll('\n', '\n  ')}\n`).join('')
  return [
    `### ${name}\n`,
    ...(doc ? [`${doc}\n`] : []),
    `\`\`\`ts\n${code}\n\`\`\`\n`,
    ...(list ? [list] : []),
  ].join('\n')
}

if (import.meta.main) {
  const { text, undocumented } = await apiPage()
  for (const name of undocumented) console.log(`without a docstring: ${name}`)
  if (process.argv[2] === '--check') {
    if ((await readFile(PAGE, 'utf8').catch(() => '')) !== text) {
      console.error(
        'packages/jobs/docs/api.md is not what the docstrings say: node packages/jobs/scripts/api.ts',
      )
      process.exitCode = 1
    }
  } else await writeFile(PAGE, text)
}
