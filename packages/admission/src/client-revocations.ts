import { type Certificate, type LoadBalancer, SpoutError } from '@spout/model'
import { authorityWithoutList, storedLists } from './revocation-list.ts'

/**
 * Checks that listeners which look up revoked certificates have a list of each authority, which that authority signed.
 * With one missing, the proxy would refuse all of its clients. Lists of other authorities may be there, so that both can
 * be replaced one after the other.
 * @param find the certificate with this id; null if there is none, which is refused elsewhere
 * @throws SpoutError InvalidField
 */
export function checkRevocations(
  { listeners }: Pick<LoadBalancer, 'listeners'>,
  find: (id: string) => Pick<Certificate, 'chain'> | null,
): void {
  const checked = new Set<string>()
  for (const [at, { tls }] of listeners.entries()) {
    const { caCertificateId = null, crlCertificateId = null } = tls?.clientCertificates ?? {}
    if (caCertificateId === null || crlCertificateId === null) continue
    const pair = `${caCertificateId}/${crlCertificateId}`
    if (checked.has(pair)) continue
    checked.add(pair)
    const [authorities, lists] = [find(caCertificateId), find(crlCertificateId)]
    if (authorities === null || lists === null) continue
    const lacking = authorityWithoutList(authorities.chain, storedLists(lists.chain))
    if (lacking === null) continue
    throw new SpoutError('InvalidField', {
      field: `listeners[${at}].tls.clientCertificates.crlCertificateId`,
      reason: `names no list that ${lacking} signed: all clients of this authority would be refused`,
    })
  }
}
