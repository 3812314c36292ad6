import { defineConfig } from 'vitest/config'

/**
 * Four projects, one after the other but for the first two. `unit` makes no browser and few processes. `postgres` runs
 * those of its files again on PostgreSQL that are about what the server stores. `system` starts real Garner processes and
 * real browsers, two files at a time: they wait for each other's processes more than they work. `alone` is what measures,
 * or floods: one file at a time, with the machine for itself.
 */
const WORKERS = 3
/** Two at a time on two cores. */
const SYSTEM_WORKERS = 2
/** Replaces a module, so it shares its modules with nobody. */
const MOCKED = ['apps/server/src/features/accounts/sign-up-limit.test.ts']
const ALONE = [
  'tests/cases/photo-uploads.test.ts',
  'tests/system/{flood,hot-key,stalled-worker,under-load}.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'packages/*/{src,testing}/**/*.test.ts',
            'apps/server/src/**/*.test.ts',
            'apps/web/src/**/*.test.{ts,tsx}',
            'examples/**/*.test.ts',
            'bench/**/*.test.ts',
            'demo/**/*.test.ts',
            'scripts/**/*.test.mjs',
          ],
          // Two servers that meet at a lock, and what PostgreSQL announces: below.
          exclude: ['**/node_modules/**', 'apps/server/src/features/*/{announced,races}.test.ts', ...MOCKED],
          sequence: { groupOrder: 0 },
          // Nothing is kept at module level (no-ambient.test.ts): what a worker has loaded serves its next file.
          isolate: false,
          // More than cores: many of these wait for a database's disk.
          maxWorkers: WORKERS,
          testTimeout: 10_000,
        },
      },
      {
        test: {
          name: 'postgres',
          // What is decided by rows: who may, what is a repeat, what happens at once, what a job leaves.
          include: [
            'apps/server/src/features/accounts/{announced,deletion,groups,races,sign-up}.test.ts',
            'apps/server/src/features/meals/describe-photo.test.ts',
            'apps/server/src/features/meals/intake/{accept,sweep}.test.ts',
            'apps/server/src/features/meals/book/{by-hand,days,shares}.test.ts',
            'apps/server/src/features/operations/routes.test.ts',
            'apps/server/src/features/reading/{cached-list,edit,events,list,races,save,two-workers}.test.ts',
          ],
          env: { GARNER_TEST_DIALECT: 'postgres' },
          setupFiles: ['apps/server/src/testing/postgres.setup.ts'],
          sequence: { groupOrder: 0 },
          isolate: false,
          maxWorkers: WORKERS,
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'system',
          include: [
            'tests/**/*.test.ts',
            'packages/*/tests/**/*.test.ts',
            'apps/web/testing/**/*.test.{ts,tsx}',
            ...MOCKED,
          ],
          exclude: ['**/node_modules/**', ...ALONE],
          sequence: { groupOrder: 1 },
          maxWorkers: SYSTEM_WORKERS,
          // A process starts within 2 s, on a busy machine within 10; a browser test starts two.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'alone',
          include: ALONE,
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
