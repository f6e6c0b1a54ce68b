import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { SpoutError } from '@spout/model'

/** 2^15, 8, 1 is OWASP's setting: about 100 ms and 32 MiB a hash. */
const LOG2_N = 15
const BLOCK_SIZE = 8
const PARALLELISM = 1
const KEY_BYTES = 32
const SALT_BYTES = 16
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
/** Hashes at the same time: each holds 32 MiB and one of libuv's four threads. */
const MAX_RUNNING = 2
const MAX_WAITING = 64

/** Stands in for a user who does not exist, so that both answers cost the same. */
const NOBODY = `scrypt$${LOG2_N}$${BLOCK_SIZE}$${PARALLELISM}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Hashes passwords as `scrypt$<log2 N>$<r>$<p>$<salt>$<key>`, few at a time. */
export class Passwords {
  #running = 0
  readonly #waiting: (() => void)[] = []

  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES)
    const key = await this.#derive(password, salt, LOG2_N, BLOCK_SIZE, PARALLELISM, KEY_BYTES)
    return ['scrypt', LOG2_N, BLOCK_SIZE, PARALLELISM, text(salt), text(key)].join('$')
  }

  /** Takes as long for a missing record as for a wrong password. */
  async verify(password: string, record: string | null): Promise<boolean> {
    const [scheme, log2n, blockSize, parallelism, salt = '', key = ''] = (record ?? NOBODY).split('$')
    if (scheme !== 'scrypt') throw new Error('a stored password record has an unknown scheme')
    const wanted = Buffer.from(key, 'base64url')
    const found = await this.#derive(
      password,
      Buffer.from(salt, 'base64url'),
      Number(log2n),
      Number(blockSize),
      Number(parallelism),
      wanted.length,
    )
    return timingSafeEqual(found, wanted) && record !== null
  }

  async #derive(password: string, salt: Buffer, log2n: number, r: number, p: number, bytes: number): Promise<Buffer> {
    await this.#enter()
    try {
      return await scryptKey(password, salt, bytes, { N: 2 ** log2n, r, p, maxmem: MAX_MEMORY_BYTES })
    } finally {
      this.#running--
      this.#waiting.shift()?.()
    }
  }

  async #enter(): Promise<void> {
    if (this.#running >= MAX_RUNNING) {
      if (this.#waiting.length >= MAX_WAITING)
        throw new SpoutError('Unavailable', { what: 'Login', reason: 'too many at the same time' })
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#running++
  }
}

const text = (bytes: Buffer): string => bytes.toString('base64url')

const scryptKey = (password: string, salt: Buffer, bytes: number, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key))),
  )
