import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createApp, isLoopbackName } from './http.ts'

test.each(['localhost', 'LOCALHOST:8080', '127.0.0.1:8080', '127.1.2.3', '[::1]:8080'])(
  '%s is this machine',
  (host) => {
    expect(isLoopbackName(host)).toBe(true)
  },
)

test.each([
  undefined,
  '',
  'evil.example',
  '127.0.0.1.evil.example',
  'localhost.evil.example:8080',
  '192.168.1.20',
  '[::2]',
])('%s is not this machine', (host) => {
  expect(isLoopbackName(host)).toBe(false)
})

test('a name of somebody else that points here (DNS rebinding) is refused where only this machine may ask', async () => {
  const app = createApp({ logger: pino({ level: 'silent' }), authenticate: () => null, isLoopbackOnly: true })
  app.get('/api/thing', async () => ({ secret: 1 }))
  const ask = async (host: string) => (await app.inject({ url: '/api/thing', headers: { host } })).statusCode
  expect(await ask('127.0.0.1:8080')).toBe(200)
  expect(await ask('rebound.example:8080')).toBe(421)
})

test('who is asking is not looked up for what says nothing of anyone', async () => {
  let asked = 0
  const authenticate = () => {
    asked++
    return null
  }
  const app = createApp({ logger: pino({ level: 'silent' }), authenticate })
  for (const url of ['/healthz', '/assets/app.js', '/']) await app.inject({ url })
  expect(asked).toBe(0)
  await app.inject({ url: '/api/me' })
  expect(asked).toBe(1)
})
