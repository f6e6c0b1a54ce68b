import { coversName, domainsOf, type LoadBalancer, SpoutError } from '@spout/model'
import type { Claim } from '../claims/claims.ts'
import type { AdmissionContext } from '../claims/context.ts'

/**
 * Checks the DNS names of a load balancer, and claims those that it did not have before. A domain of its project must
 * cover each of them. No other load balancer, of any project, may have the name, unless that project has lost the
 * domain.
 * @throws SpoutError InvalidField, DnsNameTaken
 */
export function claimDnsNames(
  { view, index }: AdmissionContext,
  claim: Claim,
  { id, projectId, dnsNames = [] }: Pick<LoadBalancer, 'id' | 'projectId' | 'dnsNames'>,
  before: readonly string[] = [],
): void {
  if (dnsNames.length === 0) return
  // The project's domains must stay while the name is written.
  if (!claim.use(`project/${projectId}`))
    throw new SpoutError('InvalidField', { field: 'dnsNames', reason: 'the domains of the project change right now' })
  const domainsIn = (id: string) => domainsOf(view.get('project', id)?.value ?? {})
  const domains = domainsIn(projectId)
  /** Whether it has the name, and its project has not lost the domain. */
  const keeps = (user: string, name: string): boolean => {
    const owner = view.get('loadBalancer', user)?.value.projectId
    return owner !== undefined && domainsIn(owner).some((domain) => coversName(domain, name))
  }
  for (const [at, name] of dnsNames.entries()) {
    const field = `dnsNames[${at}]`
    if (before.includes(name)) continue
    if (!domains.some((domain) => coversName(domain, name)))
      throw new SpoutError('InvalidField', { field, reason: `no domain of the project covers ${name}` })
    const isTaken = [...index.dnsNameUsers(name)].some((user) => user !== id && keeps(user, name))
    const key = `dns/${name}`
    if (isTaken || !(claim.names.has(key) || claim.name(key))) throw new SpoutError('DnsNameTaken', { field, name })
  }
}

/** @throws SpoutError InUse when a load balancer of the project has a name that none of the domains covers */
export function checkDomainsStay(
  { view }: AdmissionContext,
  claim: Claim,
  { id, domains }: { readonly id: string; readonly domains: readonly string[] },
): void {
  const isCovered = (name: string): boolean => domains.some((domain) => coversName(domain, name))
  for (const loadBalancer of view.list('loadBalancer', { projectId: id })) {
    const name = loadBalancer.dnsNames?.find((each) => !isCovered(each))
    if (name === undefined) continue
    const user = `load balancer ${loadBalancer.id} as ${name}`
    throw new SpoutError('InUse', { what: 'a domain of project', id, user })
  }
  if (!claim.leave(`project/${id}`))
    throw new SpoutError('InUse', { what: 'a domain of project', id, user: 'a load balancer that is being written' })
}
