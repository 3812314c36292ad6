import { defineConfig } from 'vitest/config'

/**
 * Three projects. `unit` stays within its own process and runs in parallel. `postgres` runs those of its files again on
 * PostgreSQL that are about what the server stores. `system` starts real Garner processes and
 * real browsers, whose timeouts mean something: one file at a time, after the others, since two of them at once on a
 * machine with two cores measure each other.
 */
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
          sequence: { groupOrder: 0 },
          testTimeout: 10_000,
        },
      },
      {
        test: {
          name: 'postgres',
          include: ['apps/server/src/features/**/*.test.ts'],
          // What asks no database.
          exclude: [
            'apps/server/src/features/meals/{photo,food}/**',
            'apps/server/src/features/meals/book/{amounts,day}.test.ts',
            'apps/server/src/features/reading/{page-key,saved-url,text}.test.ts',
            'apps/server/src/features/accounts/{origin,sign-up-limit}.test.ts',
          ],
          env: { GARNER_TEST_DIALECT: 'postgres' },
          setupFiles: ['apps/server/src/testing/postgres.setup.ts'],
          sequence: { groupOrder: 0 },
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
          ],
          sequence: { groupOrder: 1 },
          fileParallelism: false,
          // A process starts within 2 s, on a busy machine within 10; a browser test starts two.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
