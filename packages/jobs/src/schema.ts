import { PayloadRejected } from './errors.ts'
import type { Json } from './job.ts'

/**
 * The part of Standard Schema (v1) that payloads need: Zod, Valibot, ArkType and others have it. Source:
 * standardschema.dev. Only schemas that answer at once: a payload is looked at inside the caller's transaction.
 */
export interface PayloadSchema<P extends Json> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaAnswer<P> | Promise<SchemaAnswer<P>>
    readonly types?: { readonly input: unknown; readonly output: P } | undefined
  }
}

type SchemaAnswer<P> =
  | { readonly value: P; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/**
 * The payload as the kind's schema gives it back (defaults filled in), or as it is when there is none.
 * Errors: PayloadRejected; TypeError for a schema that answers later.
 */
export function validPayload<P extends Json>(
  { kind, payload: schema }: { kind: string; payload?: PayloadSchema<P> },
  value: unknown,
): P {
  if (!schema) return value as P
  const answer = schema['~standard'].validate(value)
  if (answer instanceof Promise) throw new TypeError(`The payload schema of ${kind} must answer at once.`)
  if (!answer.issues) return answer.value
  throw new PayloadRejected(
    kind,
    answer.issues.map((one) => ({ path: pathOf(one), message: one.message })),
  )
}

function pathOf({ path = [] }: SchemaIssue): string {
  return path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
}
