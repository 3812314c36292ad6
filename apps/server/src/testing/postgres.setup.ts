import { providePostgres } from './database.ts'

providePostgres()
