import type { RouteContentInput } from '@spout/connector'
import type { HttpRouteRule } from '../../objects/http-route.ts'
import { durationMs } from '../fields/duration.ts'
import { type Objection, objection } from '../fields/objection.ts'

type ForwardInput = Extract<RouteContentInput['action'], { type: 'forward' }>

/** Attempts when `retry` names none: the API leaves that to the implementation. */
const DEFAULT_ATTEMPTS = 1

/** Converts the retries of a rule. */
export function retryOf(
  retry: HttpRouteRule['retry'],
): { readonly retry: ForwardInput['retry'] } | { readonly invalid: Objection } {
  if (retry === undefined) return { retry: undefined }
  const { codes = [], attempts = DEFAULT_ATTEMPTS, backoff } = retry
  const backoffMs = backoff === undefined ? 0 : durationMs(backoff)
  if (backoffMs === null)
    return { invalid: objection('UnsupportedValue', 'retry.backoff: is not a duration such as 10s or 500ms.') }
  return { retry: { attempts, codes: [...codes], backoffMs } }
}
