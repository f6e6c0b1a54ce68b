import type { Session } from '@spout/client/api'

/** The dependencies of every command. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly colour: boolean
  write(text: string): void
  readonly signal: AbortSignal
}

/** A command that was called wrongly. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** @throws UsageError when the environment lacks the API's address or the token */
export function sessionOf({ env }: CommandContext): Session {
  const { SPOUT_ENDPOINT: endpoint, SPOUT_TOKEN: token } = env
  if (!endpoint)
    throw new UsageError('SPOUT_ENDPOINT is not set: the base URL of the control plane, such as http://127.0.0.1:9130')
  if (!token) throw new UsageError('SPOUT_TOKEN is not set: a token for your project (POST /api/v1/tokens)')
  return { endpoint: endpoint.replace(/\/$/, ''), token }
}
