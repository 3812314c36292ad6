import type { IncomingMessage } from 'node:http'
import type { Me } from '@garner/server/api'
import { Refusal } from './fake-refusal.ts'
import type { FakeState } from './fake-state.ts'

interface Knock {
  req: IncomingMessage
  url: URL
  body: Record<string, unknown>
}

/** Who is asking, and the routes that need nobody: welcome, sign-up, sign-in, sign-out, who am I. */
export function createDoor(state: FakeState) {
  const me = (who: string): Me => {
    const user = state.users.find((one) => one.id === who)
    if (!user) throw new Refusal(401, 'Sign in first.')
    const home = state.groups.find((one) => one.members.includes(who))
    return {
      id: user.id,
      name: user.name,
      email: state.demo ? null : user.email,
      role: user.role,
      status: user.status,
      default_group: home?.id ?? null,
      demo: state.demo,
    }
  }

  function open({ req, url, body }: Knock): { status?: number; body?: unknown } | null {
    if (url.pathname === '/api/welcome') {
      const users = state.demo ? state.users.map(({ id, name }) => ({ id, name })) : []
      return { body: { setup_needed: state.setupNeeded, demo: state.demo, demo_users: users } }
    }
    if (url.pathname === '/api/auth/sign-in/email') {
      const user = state.users.find((one) => one.email === body.email)
      if (!user || body.password !== 'a short sentence') throw new Refusal(401, 'Invalid email or password')
      state.session = user.id
      return { body: { user } }
    }
    if (url.pathname === '/api/auth/sign-up/email') {
      if (state.users.some((one) => one.email === body.email))
        throw new Refusal(409, 'There is already an account with that email. Sign in with it instead.')
      const id = String(body.email).split('@')[0] ?? 'new'
      const isFirst = state.setupNeeded
      state.users.push({
        id,
        name: String(body.name),
        email: String(body.email),
        role: isFirst ? 'admin' : 'member',
        status: isFirst ? 'approved' : 'pending',
        asked_at: new Date().toISOString(),
      })
      state.setupNeeded = false
      state.session = id
      if (isFirst)
        state.groups.push({
          id: `me-${id}`,
          name: 'Only me',
          personal: true,
          owner: id,
          members: [id],
          showing: [],
          version: 1,
        })
      return { body: {} }
    }
    if (url.pathname === '/api/auth/sign-out') {
      state.session = null
      return { body: { success: true } }
    }
    if (url.pathname === '/api/me' && req.method === 'GET') return { body: me(whoIs(req)) }
    return null
  }

  const whoIs = (req: IncomingMessage): string => {
    const who = state.demo ? req.headers['x-demo-user'] : state.session
    if (typeof who !== 'string') throw new Refusal(401, 'Sign in first.')
    return who
  }

  return { open, whoIs }
}
