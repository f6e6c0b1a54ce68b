import { createHash, randomBytes } from 'node:crypto'

/** A new bearer secret: 256 random bits, safe in a header. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** What a secret is stored and found by. Nothing to slow down here: 256 bits cannot be guessed. */
export const secretSha256 = (secret: string): string => createHash('sha256').update(secret).digest('hex')
