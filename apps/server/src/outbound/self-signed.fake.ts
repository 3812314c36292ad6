import { createSign, generateKeyPairSync } from 'node:crypto'

/** A certificate that nobody vouches for, made on the spot, so that no private key lies in the repository. */
export function selfSigned(commonName: string): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = seq(oid('2a8648ce3d040302'))
  const name = seq(der(0x31, seq(oid('550403'), der(0x0c, Buffer.from(commonName)))))
  const validity = seq(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
  const toSign = seq(
    ...[der(0xa0, der(0x02, Buffer.of(2))), der(0x02, Buffer.of(1)), ecdsaWithSha256, name, validity, name],
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = createSign('sha256').update(toSign).sign(privateKey)
  const cert = seq(toSign, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.of(0), signature])))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${cert.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

const seq = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts))
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
