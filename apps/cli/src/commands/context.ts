import type { Session } from '@spout/client/api'

/** What every command gets from the outside. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly colour: boolean
  write(text: string): void
  readonly signal: AbortSignal
}

/** A call that cannot be made as it was written. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** @throws UsageError when the environment does not say where the API is or who asks */
export function sessionOf({ env }: CommandContext): Session {
  const { SPOUT_ENDPOINT: endpoint, SPOUT_TOKEN: token } = env
  if (!endpoint)
    throw new UsageError('SPOUT_ENDPOINT is not set: the base URL of the control plane, such as http://127.0.0.1:9130')
  if (!token) throw new UsageError('SPOUT_TOKEN is not set: a token for your project (POST /api/v1/tokens)')
  return { endpoint: endpoint.replace(/\/$/, ''), token }
}
