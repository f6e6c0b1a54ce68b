import { hash } from 'node:crypto'
import { randomSecret } from '@spout/runtime/random-secret'

/** A new bearer secret: 32 random bytes, safe in a header and on a command line. */
export const newSecret = (): string => randomSecret(32)

/** The hash that a secret is stored and found by. It need not be slow: 256 bits cannot be guessed. */
export const secretSha256 = (secret: string): string => hash('sha256', secret)
