import type { NodeForward } from '@spout/model'
import { MOST_RETRIES } from '@spout/model/route-words'

/** The values in the rows of a route's limits. Times are in milliseconds. */
export interface RouteLimits {
  /** From when a member has the request until its response begins. Absent: the listener's time-out. */
  readonly attempt?: number
  /** Until the response begins, connecting and all attempts included. Absent: no limit. */
  readonly deadline?: number
  /** Attempts after the first. Absent: none. */
  readonly retries?: number
  /** Responses that are a reason for one: `.502.503.`, or `.` for none. */
  readonly codes?: string
  /** How long to wait before each of them. Absent: not at all. */
  readonly 'back-off'?: number
  /** Requests of a client: `<requests>/<in seconds>/<burst>`. Absent: any number. */
  readonly rate?: string
  /** Requests of a client at once. Absent: any number. */
  readonly 'at-once'?: number
  /** Bytes of a body. Absent: any number. */
  readonly body?: number
}

/** HAProxy has no word for no limit; its longest is 24 days. */
const UNLIMITED_MS = 2_073_600_000

/** Null for a route without limits of its own. @throws RangeError */
export function limitsOf({
  timeouts,
  retry,
  clientRate,
  clientConcurrency,
  maxBodyBytes,
}: Pick<NodeForward, 'timeouts' | 'retry' | 'clientRate' | 'clientConcurrency' | 'maxBodyBytes'>): RouteLimits | null {
  const limits = {
    ...(timeouts && timesOf(timeouts)),
    ...(retry && retriesOf(retry)),
    ...(clientRate && { rate: rateText(clientRate) }),
    ...(clientConcurrency === undefined ? {} : { 'at-once': within(1, clientConcurrency, MOST) }),
    ...(maxBodyBytes === undefined ? {} : { body: within(0, maxBodyBytes, Number.MAX_SAFE_INTEGER) }),
  }
  return Object.keys(limits).length === 0 ? null : limits
}

const MOST = 1_000_000
const rateText = ({ requests, perSeconds, burst }: NonNullable<NodeForward['clientRate']>): string =>
  [within(1, requests, MOST), within(1, perSeconds, MOST), within(0, burst, MOST)].join('/')

/** The end of a request ends its attempts. */
function timesOf({ requestMs, backendRequestMs }: NonNullable<NodeForward['timeouts']>): RouteLimits {
  const attempt = within(1, Math.min(requestMs || UNLIMITED_MS, backendRequestMs || UNLIMITED_MS), UNLIMITED_MS)
  return requestMs ? { attempt, deadline: within(1, requestMs, UNLIMITED_MS) } : { attempt }
}

function retriesOf({ attempts, codes, backoffMs }: NonNullable<NodeForward['retry']>): RouteLimits {
  return {
    retries: within(1, attempts, MOST_RETRIES),
    codes: ['', ...codes.map((code) => within(400, code, 599)), ''].join('.'),
    ...(backoffMs === 0 ? {} : { 'back-off': within(1, backoffMs, UNLIMITED_MS) }),
  }
}

function within(least: number, value: number, most: number): number {
  if (Number.isInteger(value) && least <= value && value <= most) return value
  throw new RangeError(`${value} is not a whole number from ${least} to ${most}`)
}
