import { type Certificate, type LoadBalancer, SpoutError } from '@spout/model'
import { authorityWithoutList, storedLists } from '../pem/revocation-list.ts'

/**
 * Checks that listeners and pools which look up revoked certificates have a list of each authority, which that authority
 * signed. With one missing, the proxy would refuse all of its clients or members. Lists of other authorities may be
 * there, so that both can be replaced one after the other.
 * @param find the certificate with this id; null if there is none, which is refused elsewhere
 * @throws SpoutError InvalidField
 */
export function checkRevocations(
  loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>,
  find: (id: string) => Pick<Certificate, 'chain'> | null,
): void {
  const checked = new Set<string>()
  for (const { at, peers, caCertificateId, crlCertificateId } of lookups(loadBalancer)) {
    const pair = `${caCertificateId}/${crlCertificateId}`
    if (checked.has(pair)) continue
    checked.add(pair)
    const lacking = lackingIn(find(caCertificateId), find(crlCertificateId))
    if (lacking === null) continue
    throw new SpoutError('InvalidField', {
      field: `${at}.crlCertificateId`,
      reason: `names no list that ${lacking} signed: all ${peers} of this authority would be refused`,
    })
  }
}

/** The facts by which certificates of clients or members are checked. */
interface Lookup {
  readonly at: string
  readonly peers: 'clients' | 'members'
  readonly caCertificateId: string
  readonly crlCertificateId: string
}

function* lookups({ listeners, pools }: Pick<LoadBalancer, 'listeners' | 'pools'>): Generator<Lookup> {
  for (const [index, { tls }] of listeners.entries()) {
    const { caCertificateId = null, crlCertificateId = null } = tls?.clientCertificates ?? {}
    if (caCertificateId !== null && crlCertificateId !== null)
      yield { at: `listeners[${index}].tls.clientCertificates`, peers: 'clients', caCertificateId, crlCertificateId }
  }
  for (const [index, { tls }] of pools.entries()) {
    const { caCertificateId = null, crlCertificateId = null } = tls ?? {}
    if (caCertificateId !== null && crlCertificateId !== null)
      yield { at: `pools[${index}].tls`, peers: 'members', caCertificateId, crlCertificateId }
  }
}

type Chain = Pick<Certificate, 'chain'> | null

/** The name of an authority without a list. */
const lackingIn = (authorities: Chain, lists: Chain): string | null =>
  authorities === null || lists === null ? null : authorityWithoutList(authorities.chain, storedLists(lists.chain))
