import { readFileSync } from 'node:fs'
import { readMetadata } from '../metadata.ts'
import { answerJobs } from './answer.ts'

/** A file by its path, or its bytes. */
export interface MetadataJob {
  source: string | Uint8Array<ArrayBuffer>
}

answerJobs<MetadataJob>(({ source }) => ({
  result: readMetadata(typeof source === 'string' ? readFileSync(source) : source),
}))
