/** A host name that a route serves; `one-label` and `any-labels` are the names below it. */
export interface ServedName {
  readonly name: string
  readonly compare: 'exact' | 'one-label' | 'any-labels'
}

/** The owner of a host name, as one project sees it. `partly`: another project's domain is among the names below it. */
export type HostOwner = 'own' | 'foreign' | 'partly' | 'nobody'

/**
 * The projects that have each domain, so that the owner of a host name is found in a few lookups. A host belongs to the
 * projects whose domain covers it most specifically: an exact domain before a wildcard, a longer wildcard before a
 * shorter one.
 */
export class DomainOwners {
  readonly #domainsOf = new Map<string, readonly string[]>()
  readonly #ownersOf = new Map<string, Set<string>>()
  /**
   * How many domains below a name each project has. The key `=NAME` counts exact domains with one more label than NAME.
   */
  readonly #below = new Map<string, Map<string, number>>()

  /** @param domains none when the project is gone */
  replace(projectId: string, domains: readonly string[] = []): void {
    const before = this.#domainsOf.get(projectId) ?? []
    if (before.length === 0 && domains.length === 0) return
    for (const domain of before) this.#remove(projectId, domain)
    for (const domain of domains) this.#add(projectId, domain)
    if (domains.length === 0) this.#domainsOf.delete(projectId)
    else this.#domainsOf.set(projectId, domains)
  }

  /** Whether no project has a domain. */
  get isEmpty(): boolean {
    return this.#domainsOf.size === 0
  }

  ownerOf({ name, compare }: ServedName, projectId: string): HostOwner {
    const isExact = compare === 'exact'
    const covering = [isExact ? name : `*.${name}`, ...parentsOf(name).map((parent) => `*.${parent}`)]
    for (const domain of covering) {
      const owners = this.#ownersOf.get(domain)
      if (owners !== undefined) return owners.has(projectId) ? 'own' : 'foreign'
    }
    if (isExact) return 'nobody'
    const within = this.#below.get(compare === 'one-label' ? `=${name}` : name)
    for (const owner of within?.keys() ?? []) if (owner !== projectId) return 'partly'
    return 'nobody'
  }

  /** Whether a project other than this one has the domain, or a wildcard that covers it. */
  isHeldByOthers(domain: string, projectId: string): boolean {
    const holders = [domain, ...parentsOf(domain.replace(/^\*\./, '')).map((parent) => `*.${parent}`)]
    return holders.some((each) => [...(this.#ownersOf.get(each) ?? [])].some((owner) => owner !== projectId))
  }

  #add(projectId: string, domain: string): void {
    const owners = this.#ownersOf.get(domain) ?? new Set()
    this.#ownersOf.set(domain, owners.add(projectId))
    for (const key of keysAbove(domain)) {
      const counts = this.#below.get(key) ?? new Map<string, number>()
      this.#below.set(key, counts.set(projectId, (counts.get(projectId) ?? 0) + 1))
    }
  }

  #remove(projectId: string, domain: string): void {
    const owners = this.#ownersOf.get(domain)
    owners?.delete(projectId)
    if (owners?.size === 0) this.#ownersOf.delete(domain)
    for (const key of keysAbove(domain)) {
      const counts = this.#below.get(key)
      const left = (counts?.get(projectId) ?? 0) - 1
      if (left > 0) counts?.set(projectId, left)
      else counts?.delete(projectId)
      if (counts?.size === 0) this.#below.delete(key)
    }
  }
}

/** The names that a name is below: for `a.b.example` these are `b.example` and `example`. */
function parentsOf(name: string): readonly string[] {
  const labels = name.split('.')
  return labels.slice(1).map((_, at) => labels.slice(at + 1).join('.'))
}

function keysAbove(domain: string): readonly string[] {
  const parents = parentsOf(domain)
  return domain.startsWith('*.') || parents[0] === undefined ? parents : [...parents, `=${parents[0]}`]
}
