/**
 * Dead relative links and missing anchors in the repository's Markdown: `node scripts/check-links.mjs [ROOT]`.
 *
 * Finds inline links, images, reference definitions and HTML `href`, `src`; ignores code. Anchors follow GitHub's
 * rule for headings, plus explicit `id` and `name`. Addresses with a scheme are not fetched: a check that depends on
 * other people's servers is red on their bad days.
 */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownFiles } from './check/files.mjs'

/**
 * @param {string} root
 * @param {readonly string[]} files the repository's own files, relative to the root
 * @returns {string[]} one line per dead link, `path:line: what is wrong`
 */
export function deadLinks(root, files) {
  const anchorsByPath = new Map()
  const anchors = (/** @type {string} */ path) => {
    if (!anchorsByPath.has(path)) anchorsByPath.set(path, anchorsOf(readFileSync(join(root, path), 'utf8')))
    return anchorsByPath.get(path)
  }
  const problems = []
  for (const path of files.filter(isMarkdown)) {
    for (const { target, line } of linksOf(readFileSync(join(root, path), 'utf8'))) {
      const problem = problemWith({ root, files, from: path, target, anchors })
      if (problem) problems.push(`${path}:${line}: ${target}: ${problem}`)
    }
  }
  return problems
}

const isMarkdown = (/** @type {string} */ path) => path.endsWith('.md')

/**
 * @param {{
 *   root: string, files: readonly string[], from: string, target: string, anchors: (path: string) => Set<string>
 * }} link
 * @returns {string | undefined}
 */
function problemWith({ root, files, from, target, anchors }) {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) return undefined
  const [address = '', fragment] = target.split('#', 2)
  const path = address === '' ? from : pathOf(from, decode(address.replace(/\?.*$/, '')))
  if (path.startsWith('..')) return 'leads out of the repository'
  const isFolder = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory()
  if (isFolder ? !files.some((file) => path === '.' || file.startsWith(`${path}/`)) : !files.includes(path)) {
    return existsSync(join(root, path)) ? 'is not part of the repository' : 'no such file'
  }
  if (fragment === undefined || isFolder) return undefined
  if (isMarkdown(path)) return anchors(path).has(decode(fragment)) ? undefined : `no such heading in ${path}`
  const lines = /^L(\d+)(?:-L(\d+))?$/.exec(fragment)
  if (!lines) return undefined
  const count = readFileSync(join(root, path), 'utf8').split('\n').length
  return Number(lines[2] ?? lines[1]) <= count ? undefined : `${path} has ${count} lines`
}

/** @param {string} from @param {string} address */
function pathOf(from, address) {
  const path = address.startsWith('/') ? normalize(address.slice(1)) : normalize(join(dirname(from), address))
  return path.replaceAll('\\', '/').replace(/\/$/, '') || '.'
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * @param {string} markdown
 * @returns {{ target: string, line: number }[]}
 */
export function linksOf(markdown) {
  const patterns = [
    // [text](target "title"), ![alt](target), [text](<target with spaces>); one level of brackets within either
    /\]\(\s*(?:<([^>\n]*)>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/g,
    // [name]: target
    /^ {0,3}\[[^\]\n]+\]:\s*(?:<([^>\n]*)>|(\S+))/gm,
    /<[a-z][^>]*\s(?:href|src)=(?:"([^"]*)"|'([^']*)')/gi,
  ]
  const text = withoutCode(markdown)
  const links = []
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      const target = match[1] ?? match[2] ?? ''
      links.push({ target, line: text.slice(0, match.index).split('\n').length })
    }
  }
  return links.filter(({ target }) => target !== '').sort((a, b) => a.line - b.line)
}

/**
 * @param {string} markdown
 * @returns {Set<string>}
 */
export function anchorsOf(markdown) {
  const anchors = new Set()
  const add = (/** @type {string} */ heading) => {
    const slug = slugOf(heading)
    let name = slug
    for (let n = 1; anchors.has(name); n += 1) name = `${slug}-${n}`
    anchors.add(name)
  }
  const text = withoutFences(markdown)
  for (const match of text.matchAll(/^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$|^(\S.*)\n(?:=+|-+)[ \t]*$/gm)) {
    add(match[1] ?? match[2] ?? '')
  }
  for (const match of text.matchAll(/<[a-z][^>]*\s(?:id|name)=["']([^"']+)["']/gi)) anchors.add(match[1])
  return anchors
}

/** GitHub's rule: the visible text, lower case, without punctuation, a hyphen for each space. @param {string} heading */
function slugOf(heading) {
  return heading
    .replace(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/<[^>]+>/g, '')
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/** Fenced blocks become empty lines, so that line numbers stay. @param {string} markdown */
function withoutFences(markdown) {
  let fence = ''
  return markdown
    .replace(/<!--[\s\S]*?-->/g, blank)
    .split('\n')
    .map((line) => {
      const mark = /^\s*(?:>\s*)*(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
      if (fence === '') {
        fence = mark
        return mark === '' ? line : ''
      }
      const isEnd = mark.startsWith(fence) && line.trim().replace(/^[>\s]*/, '') === mark
      if (isEnd) fence = ''
      return ''
    })
    .join('\n')
}

/** @param {string} markdown */
const withoutCode = (markdown) => withoutFences(markdown).replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, blank)

/** @param {string} text */
const blank = (text) => text.replace(/[^\n]/g, ' ')

if (isProgram()) {
  const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url))
  const files = ownFiles(root)
  const problems = deadLinks(root, files)
  for (const problem of problems) console.error(problem)
  const from = relative(process.cwd(), root) || 'this folder'
  console.log(`${problems.length} dead links in ${files.filter(isMarkdown).length} Markdown files of ${from}`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

function isProgram() {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
}
