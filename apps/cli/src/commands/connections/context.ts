import type { Session } from '@spout/client/api'
import { Endpoints, parseEndpoints } from '@spout/client/endpoints'

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

/** @throws UsageError when the environment lacks the API's addresses or the token, or one is no address */
export function sessionOf({ env }: CommandContext): Session {
  const { SPOUT_ENDPOINT: given, SPOUT_TOKEN: token } = env
  if (!given)
    throw new UsageError('SPOUT_ENDPOINT is not set: the base URL of the control plane, such as http://127.0.0.1:9130')
  if (!token) throw new UsageError('SPOUT_TOKEN is not set: a token for your project (POST /api/v1/tokens)')
  return { endpoints: new Endpoints(urlsOf(given)), token }
}

function urlsOf(given: string): readonly string[] {
  try {
    return parseEndpoints(given)
  } catch (error) {
    throw new UsageError(`SPOUT_ENDPOINT: ${(error as Error).message}`)
  }
}
