import {
  type Assignment,
  assign,
  type KnownLoadBalancers,
  keyOf,
  NAMESPACE_MOVED,
  type NamespaceLabels,
  type ProjectRule,
  projectOfNamespace,
  type Refusal,
  type Ruling,
  refuse,
  type TenantProject,
} from '@spout/connector'
import type { Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import type { Barred, Cluster, ClusterChange } from '../controller/cluster.ts'
import { fieldOf } from '../to-model/annotations.ts'
import { type OwnershipSettings, ownershipOf } from '../to-model/ownership.ts'
import { servicesOf } from '../to-model/services-of.ts'
import { namespacesSharedWith } from '../to-model/sharing.ts'
import { ProjectCluster } from './project-cluster.ts'

/** What is written to a Service says whose it is. */
export interface ClaimingCluster extends Cluster {
  claim(service: Service, projectId?: string): Promise<void>
}

export interface TenancyOptions {
  readonly cluster: ClaimingCluster
  readonly namespaces: NamespaceLabels
  readonly rules: readonly ProjectRule[]
  readonly ownership: OwnershipSettings
}

/**
 * The Services of one cluster, dealt to projects: each is of one at a time, or of nobody. A project's controller sees a
 * cluster that has its Services alone (`ofProject`).
 */
export class Tenancy {
  readonly #options: TenancyOptions
  readonly #projects = new Map<string, TenantProject>()
  readonly #known = new Map<string, KnownLoadBalancers>()
  readonly #assigned = new Map<string, Assignment>()
  /** Services by the namespaces that decide on them: their own, and those that they name to share with. */
  readonly #keysOfNamespace = new Map<string, Set<string>>()
  readonly #namespacesOfKey = new Map<string, readonly string[]>()
  readonly #clusters = new Map<string | null, ProjectCluster>()
  readonly #unsubscribe: (() => void)[]

  constructor(options: TenancyOptions) {
    const { cluster, namespaces, rules } = options
    this.#options = options
    for (const { project } of rules) this.#projects.set(project, { name: project, id: null, ofUid: null })
    this.#unsubscribe = [
      cluster.onChange((change) => this.#changed(change)),
      namespaces.onChange((name) => {
        for (const key of [...(this.#keysOfNamespace.get(name) ?? [])]) this.#look(key, 'always')
      }),
    ]
  }

  get ready(): boolean {
    return this.#options.cluster.ready && this.#options.namespaces.ready
  }

  /** The cluster as a project sees it; null: as who refuses sees it, with the Services of nobody. */
  ofProject(project: string | null): ProjectCluster {
    const known = this.#clusters.get(project)
    if (known !== undefined) return known
    const made = new ProjectCluster(this, this.#options.cluster, project)
    this.#clusters.set(project, made)
    return made
  }

  /** Says whose a project of the rules is, and what it holds. To be said before its controller starts. */
  join(project: string, id: string, known: KnownLoadBalancers): void {
    this.#known.set(project, known)
    this.#projects.set(project, { name: project, id, ofUid: null })
    this.#unsubscribe.push(known.onChange((documents) => this.#shown(project, documents)))
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  projectId(project: string): string | null {
    return this.#projects.get(project)?.id ?? null
  }

  isOf(key: string, project: string | null): boolean {
    const assigned = this.#assigned.get(key)
    if (assigned === undefined || assigned.type === 'unknown') return false
    return assigned.type === 'nobody' ? project === null : assigned.project === project
  }

  *keysOf(project: string | null): Iterable<string> {
    for (const key of this.#assigned.keys()) if (this.isOf(key, project)) yield key
  }

  /** Whether what has its address cannot be seen, or it cannot be said yet whose it is: nothing is decided for its absence. */
  isWithheld(key: string): boolean {
    const assigned = this.#assigned.get(key)
    return assigned?.type === 'unknown' || (assigned?.type === 'nobody' && assigned.isElsewhere)
  }

  barred(service: Service): Barred | null {
    const assigned = this.#assigned.get(keyOf(service))
    if (assigned?.type === 'nobody') return { refusal: assigned.refusal, keepsAddresses: assigned.isElsewhere }
    if (assigned?.type !== 'project') return null
    const stranger = namespacesSharedWith(service).find((name) => !isOfProject(this.#ruling(name), assigned.project))
    if (stranger === undefined) return null
    const message = `Namespace "${stranger.slice(0, 63).replaceAll(/[^\x20-\x7e]/g, '?')}" is not of this Service's project.`
    return { ...refuse('SharingAcrossProjects', fieldOf('shareWith'), message), keepsAddresses: false }
  }

  notice(service: Service): Refusal | null {
    const assigned = this.#assigned.get(keyOf(service))
    if (assigned?.type !== 'project' || assigned.kept === null) return null
    const whose = assigned.kept === 'moved' ? 'of another project' : 'of no project'
    return {
      reason: NAMESPACE_MOVED,
      field: 'metadata.namespace',
      message: `Its namespace is ${whose} now. The Service stays with the project that it has its address from until it is made again.`,
    }
  }

  #ruling(namespace: string): Ruling {
    return projectOfNamespace(namespace, this.#options.namespaces.of(namespace), this.#options.rules)
  }

  #changed(change: ClusterChange): void {
    if (change.type === 'service') this.#look(change.key, 'always')
    else if (change.type === 'nodes') for (const cluster of this.#clusters.values()) cluster.changed(change)
    else this.#clusterOf(this.#assigned.get(change.key))?.changed(change)
  }

  /** Load balancers were shown anew: before and after, or none when all of the project were listed. */
  #shown(project: string, documents: readonly LoadBalancer[]): void {
    const known = this.#known.get(project)
    const before = this.#projects.get(project)
    if (known === undefined || before === undefined || !known.listed) return
    if (before.ofUid === null) {
      this.#projects.set(project, { ...before, ofUid: (uid) => known.ofUid(uid) })
      for (const key of [...this.#namespacesOfKey.keys()]) this.#look(key, 'when-it-changes')
    }
    const keys = new Set(documents.flatMap((document) => [...servicesOf(document).values()]))
    for (const key of keys) if (this.#namespacesOfKey.has(key)) this.#look(key, 'when-it-changes')
  }

  #look(key: string, tell: 'always' | 'when-it-changes'): void {
    const { cluster, ownership: settings } = this.#options
    const service = cluster.service(key)
    const ownership = service === undefined ? 'foreign' : ownershipOf(service, settings)
    const before = this.#assigned.get(key)
    let after: Assignment | undefined
    if (service !== undefined && ownership !== 'foreign') {
      const namespace = service.metadata.namespace ?? ''
      this.#index(key, [namespace, ...namespacesSharedWith(service)])
      after = assign(service, this.#ruling(namespace), [...this.#projects.values()], ownership !== 'ours')
      this.#assigned.set(key, after)
    } else {
      this.#index(key, [])
      this.#assigned.delete(key)
    }
    if (tell === 'when-it-changes' && JSON.stringify(before) === JSON.stringify(after)) return
    const concerned = new Set([this.#clusterOf(before), this.#clusterOf(after)])
    for (const one of concerned) one?.changed({ type: 'service', key })
  }

  #clusterOf(assigned: Assignment | undefined): ProjectCluster | undefined {
    if (assigned === undefined || assigned.type === 'unknown') return undefined
    return this.#clusters.get(assigned.type === 'nobody' ? null : assigned.project)
  }

  #index(key: string, namespaces: readonly string[]): void {
    for (const name of this.#namespacesOfKey.get(key) ?? []) {
      const keys = this.#keysOfNamespace.get(name)
      keys?.delete(key)
      if (keys?.size === 0) this.#keysOfNamespace.delete(name)
    }
    if (namespaces.length === 0) this.#namespacesOfKey.delete(key)
    else this.#namespacesOfKey.set(key, namespaces)
    for (const name of namespaces)
      this.#keysOfNamespace.set(name, (this.#keysOfNamespace.get(name) ?? new Set()).add(key))
  }
}

const isOfProject = (ruling: Ruling, project: string): boolean =>
  ruling.type === 'project' && ruling.project === project
