import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { type Asker, FairTurns } from './fair-turns.ts'
import { ScryptThread } from './scrypt-thread.ts'

/** 2^15, 8, 1 is OWASP's setting: about 100 ms and 32 MiB a hash. */
const LOG2_N = 15
const BLOCK_SIZE = 8
const PARALLELISM = 1
const KEY_BYTES = 32
const SALT_BYTES = 16
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
/** Hashes at the same time. Each takes 32 MiB and a thread. One core is left for everything else. */
const MAX_RUNNING = Math.min(2, Math.max(1, availableParallelism() - 1))
/** The last of a full queue waits some 13 s, with two threads. */
const MAX_WAITING = 256
const MAX_WAITING_OF_SOURCE = 128
const MAX_WAITING_OF_USER = 32

export interface PasswordOptions {
  /** Hashes at the same time. */
  readonly maxRunning?: number
  /** The cost of a new hash: the binary logarithm of scrypt's N (RFC 7914). */
  readonly log2N?: number
}

/** Hashes passwords as `scrypt$<log2 N>$<r>$<p>$<salt>$<key>`, few at a time, in fair turns. */
export class Passwords {
  readonly #turns: FairTurns
  readonly #threads: readonly ScryptThread[]
  readonly #log2N: number
  /** Verified in place of an unknown user's hash, so that both answers cost the same. */
  readonly #nobody: string

  constructor({ maxRunning = MAX_RUNNING, log2N = LOG2_N }: PasswordOptions = {}) {
    this.#log2N = log2N
    this.#nobody = `scrypt$${log2N}$${BLOCK_SIZE}$${PARALLELISM}$${'A'.repeat(22)}$${'A'.repeat(43)}`
    this.#turns = new FairTurns({
      maxRunning,
      maxWaiting: MAX_WAITING,
      maxWaitingOfSource: MAX_WAITING_OF_SOURCE,
      maxWaitingOfUser: MAX_WAITING_OF_USER,
    })
    this.#threads = Array.from({ length: maxRunning }, () => new ScryptThread())
  }

  /** @throws SpoutError Unavailable when too many wait */
  async hash(password: string, asker: Asker): Promise<string> {
    const salt = randomBytes(SALT_BYTES)
    const key = await this.#turns.run(asker, () =>
      this.#derive(password, salt, this.#log2N, BLOCK_SIZE, PARALLELISM, KEY_BYTES),
    )
    return ['scrypt', this.#log2N, BLOCK_SIZE, PARALLELISM, text(salt), text(key)].join('$')
  }

  /**
   * Whether this is the password of a stored record. A missing record takes as long as a wrong password.
   * @param atTurn called when the turn comes; an error it throws ends the check
   * @throws SpoutError Unavailable when too many wait
   */
  verify(password: string, record: string | null, asker: Asker, atTurn = () => {}): Promise<boolean> {
    const [scheme, log2n, blockSize, parallelism, salt = '', key = ''] = (record ?? this.#nobody).split('$')
    if (scheme !== 'scrypt') throw new Error('a stored password record has an unknown scheme')
    const wanted = Buffer.from(key, 'base64url')
    return this.#turns.run(asker, async () => {
      atTurn()
      const found = await this.#derive(
        password,
        Buffer.from(salt, 'base64url'),
        Number(log2n),
        Number(blockSize),
        Number(parallelism),
        wanted.length,
      )
      return timingSafeEqual(found, wanted) && record !== null
    })
  }

  #derive(password: string, salt: Buffer, log2n: number, r: number, p: number, keyBytes: number): Promise<Buffer> {
    const thread = this.#threads.find(({ busy }) => !busy)
    if (thread === undefined) throw new Error('more tasks than threads')
    const options = { N: 2 ** log2n, r, p, maxmem: MAX_MEMORY_BYTES }
    return thread.derive({ password: password.normalize('NFKC'), salt, keyBytes, options })
  }
}

const text = (bytes: Buffer): string => bytes.toString('base64url')
