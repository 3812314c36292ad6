import { startFakeApi } from './fake-api.ts'
import { studyGroup } from './fake-state.ts'

/** The fake API by itself, to look at the client while it is written: `GARNER_API=http://127.0.0.1:8081 npx vite`. */
const fake = await startFakeApi({ state: studyGroup(Date.now(), 200), port: 8081 })
console.log(`Fake Garner listening on ${fake.url}`)
