import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** `v1.<key id>.<nonce, ciphertext and tag in base64>`. */
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9+/]+={0,2})$/
const KEY_TEXT = /^[0-9a-f]{64}$/i

/** A key is missing, or the text was changed or belongs to another object. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

interface SealingKey {
  readonly id: string
  readonly bytes: Buffer
}

/**
 * Seals secrets that are stored, with AES-256-GCM (NIST SP 800-38D) and a random nonce each. The first key seals, all
 * keys open. To rotate, put a new key first, seal everything anew, and remove the old key.
 */
export class SealingKeys {
  readonly #keys: readonly [SealingKey, ...SealingKey[]]

  private constructor(keys: readonly [SealingKey, ...SealingKey[]]) {
    this.#keys = keys
  }

  /**
   * @param text keys of 64 hexadecimal digits, separated by white space or commas
   * @throws RangeError that does not quote the text
   */
  static parse(text: string): SealingKeys {
    const words = text.split(/[\s,]+/).filter((word) => word !== '')
    for (const [index, word] of words.entries())
      if (!KEY_TEXT.test(word)) throw new RangeError(`sealing key ${index + 1} does not have 64 hexadecimal digits`)
    const [first, ...others] = words.map((word): SealingKey => {
      const bytes = Buffer.from(word, 'hex')
      return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), bytes }
    })
    if (first === undefined) throw new RangeError('there is no sealing key')
    return new SealingKeys([first, ...others])
  }

  /** A new key, as text for `parse`. */
  static generate(): string {
    return randomBytes(KEY_BYTES).toString('hex')
  }

  /** @param owner the id of the object that the text belongs to: for another object it cannot be opened */
  seal(text: string, owner: string): string {
    const [{ id, bytes }] = this.#keys
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(owner))
    const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
    return `v1.${id}.${Buffer.concat(sealed).toString('base64')}`
  }

  /** @throws SealBroken */
  open(sealed: string, owner: string): string {
    const [, id, body] = SEALED.exec(sealed) ?? []
    if (id === undefined || body === undefined) throw new SealBroken('this is no sealed text')
    const key = this.#keys.find((one) => one.id === id)
    if (key === undefined) throw new SealBroken(`sealing key ${id} is not configured`)
    const bytes = Buffer.from(body, 'base64')
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SealBroken('the sealed text is too short')
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw new SealBroken(`the text was not sealed with key ${id} for this object, or was changed since`)
    }
  }

  /** Whether the key that seals now sealed it. */
  isNewest(sealed: string): boolean {
    return SEALED.exec(sealed)?.[1] === this.#keys[0].id
  }
}
