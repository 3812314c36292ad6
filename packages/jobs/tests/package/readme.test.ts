import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../scripts/build.ts'

/** What is shown is what is run: package.test.ts runs these programs. */
test.each(['jobs-on-sqlite.ts', 'jobs-on-postgres.ts'])(
  'the README shows the whole of examples/%s',
  (name) => {
    const readme = readFileSync(join(root, 'packages/jobs/README.md'), 'utf8')
    const program = readFileSync(join(root, 'examples', name), 'utf8')
    expect(readme).toContain(`\`\`\`ts\n${program}\`\`\`\n`)
  },
)
