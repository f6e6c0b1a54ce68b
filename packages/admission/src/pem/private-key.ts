import { createPrivateKey, type KeyObject } from 'node:crypto'
import { SpoutError } from '@spout/model'
import { pemBlocks, pemText } from './pem-blocks.ts'

const FORMATS = { 'PRIVATE KEY': 'pkcs8', 'RSA PRIVATE KEY': 'pkcs1', 'EC PRIVATE KEY': 'sec1' } as const
const isKey = (label: string): label is keyof typeof FORMATS => Object.hasOwn(FORMATS, label)

/**
 * Reads the private key of a certificate.
 * @returns the key, and its text as PKCS#8 PEM
 * @throws SpoutError InvalidField, which never quotes the key
 */
export function readPrivateKey(text: string): { readonly key: KeyObject; readonly pem: string } {
  // `openssl ecparam -genkey` writes the curve's parameters first. The key repeats them.
  const blocks = pemBlocks(text, 'key').filter(({ label }) => label !== 'EC PARAMETERS')
  if (blocks.some(({ label }) => label === 'ENCRYPTED PRIVATE KEY'))
    throw refuse('is encrypted: it cannot be used here, remove its passphrase')
  const [block, ...more] = blocks
  if (block === undefined || !isKey(block.label)) {
    const found = block === undefined ? 'parameters alone' : block.label
    throw refuse(`is ${found}: one of ${Object.keys(FORMATS).join(', ')} is needed`)
  }
  if (more.length > 0) throw refuse('has more than one block: it must be one private key')
  let key: KeyObject
  try {
    key = createPrivateKey({ key: block.der, format: 'der', type: FORMATS[block.label] })
  } catch {
    // The parser's message is of no use to users, and nothing of a key may be in an error.
    throw refuse(`is not a readable ${block.label}`)
  }
  return { key, pem: pemText('PRIVATE KEY', key.export({ format: 'der', type: 'pkcs8' })) }
}

const refuse = (reason: string): SpoutError => new SpoutError('InvalidField', { field: 'key', reason })
