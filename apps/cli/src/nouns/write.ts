import { call, type Session } from '@spout/client/api'
import type { Preview } from '@spout/model'

/** With `previewing` its writes of load balancers are dry runs, whose answers go there. */
export interface WritingSession extends Session {
  readonly previewing?: (preview: Preview) => void
}

/** Writes a load balancer or a part of one. @returns the answer; of a dry run an empty object */
export async function write<T extends object>(
  session: WritingSession,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  if (session.previewing === undefined) return call<T>(session, method, path, body)
  session.previewing(await call<Preview>(session, method, `${path}?dryRun=true`, body))
  return {} as T
}
