import { isDeepStrictEqual } from 'node:util'
import {
  type DomainClaim,
  domainsOf,
  isHeld,
  MOST_DOMAIN_CLAIMS,
  type Project,
  parseAs,
  SpoutError,
} from '@spout/model'
import type { Write } from '@spout/store'
import {
  type AdmissionContext,
  deleteOf,
  find,
  newMeta,
  putNew,
  putOver,
  timestampOf,
  transact,
} from '../claims/context.ts'
import { claimObjectRoom } from '../claims/object-room.ts'
import { type DomainClaimDraft, type DomainFinding, domainClaimDraft } from '../contract/domain-admission.ts'
import type { Versioned } from '../contract/view.ts'
import { DomainOwners } from '../indexes/domain-owners.ts'
import { checkDomainsStay } from './dns-names.ts'
import { concludeCheck } from './domain-conclusion.ts'

const WHAT = 'Domain claim'

export async function claimDomain(context: AdmissionContext, input: DomainClaimDraft): Promise<DomainClaim> {
  const { domain, projectId, description } = parseAs(domainClaimDraft, input)
  return transact(context, (claim) => {
    const { view, random, now } = context
    if (view.get('project', projectId) === null)
      throw new SpoutError('ReferenceNotFound', { field: 'projectId', what: 'project', id: projectId })
    const others = view.list('domainClaim', { projectId })
    if (others.some((one) => one.domain === domain) || !claim.name(`domain-claim/${projectId}/${domain}`))
      throw new SpoutError('NameTaken', { field: 'domain', what: 'a claim', name: domain })
    if (others.length >= MOST_DOMAIN_CLAIMS) {
      const reason = `the project has ${MOST_DOMAIN_CLAIMS} claims, and may have no more`
      throw new SpoutError('InvalidField', { field: 'domain', reason })
    }
    const created: DomainClaim = {
      ...newMeta(context, { name: domain, description }),
      ...{ projectId, domain, token: random.secret(), state: 'pending', since: timestampOf(now()) },
      ...{ reason: 'NotChecked', message: 'Nobody has looked for its record yet.' },
    }
    claimObjectRoom(claim, 'domainClaim', created)
    return { writes: [putNew('domainClaim', created)], result: created }
  })
}

export const withdrawDomainClaim = (context: AdmissionContext, id: string): Promise<void> =>
  transact(context, (claim) => {
    const stored = find(context, 'domainClaim', id, WHAT)
    const project = context.view.get('project', stored.value.projectId)
    const taken = project === null || !isHeld(stored.value) ? [] : [withoutProven(project, [stored.value.domain])]
    for (const { value } of taken) checkDomainsStay(context, claim, { id: value.id, domains: domainsOf(value) })
    return { writes: [deleteOf('domainClaim', stored), ...taken.map(({ write }) => write)], result: undefined }
  })

export const concludeDomainCheck = (
  context: AdmissionContext,
  id: string,
  finding: DomainFinding,
  graceMs: number,
): Promise<DomainClaim> =>
  transact(context, () => {
    const stored = find(context, 'domainClaim', id, WHAT)
    const { domain, projectId } = stored.value
    const nowMs = context.now()
    const conclusion = concludeCheck(stored.value, {
      ...{ finding, nowMs, graceMs },
      isHeldByOthers: context.index.domainOwners.isHeldByOthers(domain, projectId),
      isGivenToOthers: context.index.givenDomains.isHeldByOthers(domain, projectId),
    })
    const same: DomainClaim = { ...stored.value, ...conclusion }
    if (isDeepStrictEqual(same, stored.value)) return { writes: [], result: stored.value }
    const next: DomainClaim = { ...same, updatedAt: timestampOf(nowMs) }
    const project = find(context, 'project', projectId, 'project')
    const moved =
      isHeld(next) === isHeld(stored.value)
        ? []
        : [isHeld(next) ? withProven(project, domain) : withoutProven(project, [domain]).write]
    return { writes: [putOver('domainClaim', stored, next), ...moved], result: next }
  })

/**
 * The writes by which other projects lose what the administrator assigns to one: proven domains that are the same or
 * below.
 */
export function lossesTo(
  { view, now }: AdmissionContext,
  { id, domains }: { readonly id: string; readonly domains: readonly string[] },
): readonly Write[] {
  const given = new DomainOwners()
  given.replace(id, domains)
  const lost = new Map<string, string[]>()
  const writes: Write[] = []
  for (const { id: claimId, projectId } of view.list('domainClaim')) {
    const stored = view.get('domainClaim', claimId)
    if (stored === null || !isHeld(stored.value) || !given.isHeldByOthers(stored.value.domain, projectId)) continue
    const nowMs = now()
    const check = {
      finding: { record: 'present' },
      isHeldByOthers: true,
      isGivenToOthers: true,
      nowMs,
      graceMs: 0,
    } as const
    const next = { ...stored.value, ...concludeCheck(stored.value, check), updatedAt: timestampOf(nowMs) }
    writes.push(putOver('domainClaim', stored, next))
    lost.set(projectId, [...(lost.get(projectId) ?? []), next.domain])
  }
  for (const [projectId, gone] of lost) {
    const project = view.get('project', projectId)
    if (project !== null) writes.push(withoutProven(project, gone).write)
  }
  return writes
}

/** The writes that delete the claims of a project, with the project. */
export const removedClaims = ({ view }: AdmissionContext, projectId: string): readonly Write[] =>
  view.list('domainClaim', { projectId }).flatMap(({ id }) => {
    const stored = view.get('domainClaim', id)
    return stored === null ? [] : [deleteOf('domainClaim', stored)]
  })

const withProven = (project: Versioned<Project>, domain: string): Write =>
  putOver('project', project, { ...project.value, provenDomains: [...(project.value.provenDomains ?? []), domain] })

function withoutProven(project: Versioned<Project>, gone: readonly string[]) {
  const left = (project.value.provenDomains ?? []).filter((domain) => !gone.includes(domain))
  const { provenDomains: _, ...rest } = project.value
  const value: Project = left.length === 0 ? rest : { ...rest, provenDomains: left }
  return { value, write: putOver('project', project, value) }
}
