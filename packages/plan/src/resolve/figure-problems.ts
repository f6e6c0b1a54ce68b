import type { Listener } from '@spout/model'
import { type Problem, problem } from '../reason.ts'

/** Why a listener cannot be counted as it says. */
export function* figureProblems({ protocol, latencies }: Listener, at: string): Generator<Problem> {
  if (latencies && protocol !== 'http' && protocol !== 'https')
    yield problem('InvalidField', {
      field: `${at}.latencies`,
      reason: `belongs to listeners of protocol http and https, which read requests, not ${protocol}`,
    })
}
