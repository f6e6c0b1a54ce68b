import type { Listener } from '@spout/model'
import { type Problem, problem } from '../reason.ts'

/**
 * Why a listener cannot end TLS as it says.
 * @param hasCertificate whether the load balancer's project has a certificate with this id
 */
export function* tlsProblems(
  { protocol, tls }: Listener,
  field: string,
  hasCertificate: (id: string) => boolean,
): Generator<Problem> {
  if (protocol !== 'https') {
    if (tls !== null)
      yield problem('InvalidField', { field, reason: `belongs to listeners of protocol https, not ${protocol}` })
    return
  }
  if (tls === null) return yield problem('MissingField', { field })
  for (const [at, id] of tls.certificateIds.entries())
    if (!hasCertificate(id))
      yield problem('ReferenceNotFound', { field: `${field}.certificateIds[${at}]`, what: 'certificate', id })
}
