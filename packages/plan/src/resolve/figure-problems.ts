import { isProxied, type Listener } from '@spout/model'
import { type Problem, problem } from '../reason.ts'

/** Settings for counting and logging requests that the listener's protocol does not support. */
export function* figureProblems(
  { protocol, latencies, routeFigures, accessLog }: Listener,
  at: string,
): Generator<Problem> {
  if (latencies && protocol !== 'http' && protocol !== 'https')
    yield problem('InvalidField', {
      field: `${at}.latencies`,
      reason: `belongs to listeners of protocol http and https, which read requests, not ${protocol}`,
    })
  if (routeFigures && !latencies)
    yield problem('InvalidField', {
      field: `${at}.routeFigures`,
      reason: 'belongs to listeners that count latencies: set latencies, too',
    })
  if (accessLog !== null && (!isProxied(protocol) || protocol === 'metrics'))
    yield problem('InvalidField', {
      field: `${at}.accessLog`,
      reason: `belongs to listeners of protocol http, https, tcp-proxy, tls and tls-passthrough, not ${protocol}`,
    })
}
