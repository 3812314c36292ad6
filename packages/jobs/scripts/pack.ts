/**
 * `node packages/jobs/scripts/pack.ts [FOLDER]`: builds the packages and packs them as they are published. Prints the
 * tarballs' paths, in the order of their dependencies. FOLDER is inside the repository, `dist` by default.
 *
 * `--refuse`: what `npm pack` and `npm publish` in a workspace's own folder run first. Without it they would take the
 * TypeScript sources, which install without a word and then do not run.
 */
import { join, resolve } from 'node:path'
import { ALL_WORKSPACES, buildPackages, root, WORKSPACES } from './build.ts'
import { npm } from './npm.ts'

export interface Packed {
  name: string
  tarball: string
  /** What the tarball holds, by path, sorted. */
  files: string[]
}

/** Errors: what the compiler or npm said. */
export async function packPackages(into: string, workspaces = WORKSPACES): Promise<Packed[]> {
  const built = await buildPackages(into, workspaces)
  const packed: Packed[] = []
  for (const { name, folder } of built) {
    const stdout = await npm(['pack', folder, '--json', '--pack-destination', into], { cwd: root })
    const [report] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
    packed.push({
      name,
      tarball: join(into, report.filename),
      files: report.files.map(({ path }) => path).sort(),
    })
  }
  return packed
}

if (import.meta.main) {
  if (process.argv[2] === '--refuse') {
    console.error('This folder holds the TypeScript sources. What is published is built from them:')
    console.error(`  node packages/jobs/scripts/pack.ts   (in ${root})`)
    process.exitCode = 1
  } else {
    for (const { tarball } of await packPackages(
      resolve(process.argv[2] ?? join(root, 'dist')),
      ALL_WORKSPACES,
    ))
      console.log(tarball)
  }
}
