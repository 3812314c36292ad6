export { createValkeyEntries, type ValkeyEntries, type ValkeyEntriesOptions } from './entries.ts'
