import type { Node } from 'typescript/unstable/ast'

/** One exported name as the page shows it. */
export interface Declared {
  name: string
  /** The docstring as Markdown; empty when there is none. */
  doc: string
  /** The declaration as TypeScript, without its comments. */
  code: string
  /** Members that have something to say. */
  members: { name: string; doc: string }[]
}

/** Reads a name's declarations; overloads and merged ones are shown one after the other. */
export function declared(name: string, nodes: readonly Node[]): Declared {
  return {
    name,
    doc: nodes.map((node) => docOf(statementOf(node))).find((doc) => doc !== '') ?? '',
    code: nodes.map((node) => codeOf(statementOf(node))).join('\n'),
    members: nodes.flatMap(membersOf),
  }
}

interface WithDoc extends Node {
  jsDoc?: readonly Node[] | undefined
}

interface WithMembers extends Node {
  members?: readonly (Node & { name?: Node | undefined })[] | undefined
}

/** A constant's declaration is inside its statement, which has the keyword and the docstring. */
function statementOf(node: Node): WithDoc {
  const { parent } = node
  return parent?.parent && /^(export )?(declare )?const\b/.test(parent.parent.getText())
    ? parent.parent
    : node
}

function docOf(node: WithDoc): string {
  const comment = node.jsDoc?.at(-1)
  return comment ? markdownOf(comment.getText()) : ''
}

/** The text of a comment: its stars removed, its `@param` lines a list. */
export function markdownOf(comment: string): string {
  return comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .map((line) => line.replace(/^\s*@param (\S+) /, '- `$1`: ').replace(/^\s*@returns /, 'Answers '))
    .join('\n')
    .trim()
}

/** The declaration alone: no private members, two spaces a level, and no comments that stand below it as members'. */
function codeOf(node: WithMembers): string {
  const text = node.getText()
  return (node.members ? text.replace(/^ {4}\/\*\*[\s\S]*?\*\/\n/gm, '') : text)
    .replace(/^\s*(?:#private|private \w+);\n/gm, '')
    .replace(/^export (?:declare )?/, '')
    .replace(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 2))
    .replace(/;$/gm, '')
}

function membersOf(node: WithMembers): { name: string; doc: string }[] {
  return (node.members ?? []).flatMap((member) => {
    const doc = docOf(member)
    if (doc === '') return []
    return [{ name: member.name?.getText() ?? 'constructor', doc }]
  })
}
