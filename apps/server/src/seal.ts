import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'

/**
 * Closes a text so that only this installation's secret opens it: AES-256-GCM, whose tag also refuses a changed
 * one. For answers that hold a secret and have to be given once more on a repeat.
 */
export interface Seal {
  close(text: string): string
  /** Errors: throws when the text was changed, or closed under another secret. */
  open(sealed: string): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

export function makeSeal({
  secret,
  randomBytes,
}: {
  secret: string
  randomBytes: (n: number) => Uint8Array
}): Seal {
  // Its own key: the secret itself signs cookies.
  const key = createHmac('sha256', secret).update('garner: seal of kept answers').digest()
  return {
    close(text) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const body = bytes.subarray(NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
  }
}
