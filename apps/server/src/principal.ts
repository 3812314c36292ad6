/** Who is asking. Made from the session, the API token or (in demo mode) the header; never from the request's body. */
export interface Principal {
  userId: string
  name: string
  role: 'admin' | 'member'
  status: 'pending' | 'approved' | 'rejected'
  via: 'session' | 'token' | 'demo'
}
