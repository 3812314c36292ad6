export * from './errors.ts'
export type * from './job.ts'
export type * from './store.ts'
