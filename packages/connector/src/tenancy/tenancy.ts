import { Dependents } from '../cluster/dependents.ts'
import { type OwnerKind, ownersOf } from '../content/owners.ts'
import { documentsOf, type KnownLoadBalancers, type LoadBalancerChange } from '../control-plane/known-load-balancers.ts'
import type { AddressedObject } from '../objects.ts'
import { type Assignment, assign, type TenantProject } from './assignment.ts'
import type { NamespaceLabels } from './namespace-labels.ts'
import { type ProjectRule, projectOfNamespace, type Ruling } from './project-rules.ts'

/** An object, and what decides its project. */
export interface TenantObject {
  readonly object: AddressedObject
  /** Other namespaces whose objects may share its address. The object is assigned again when these change. */
  readonly sharesWith: readonly string[]
  /** Whether it is being deleted, or no longer wants a load balancer. */
  readonly leaves: boolean
}

/** The objects of one kind in a cluster, kept in memory. */
export interface TenantObjects {
  readonly kind: OwnerKind
  /** Whether the first list is complete. */
  readonly ready: boolean
  /** Null when it does not exist, or is not ours to balance. @param key `namespace/name` */
  get(key: string): TenantObject | null
  /** Calls back with the key of each object that changed. */
  onChange(listener: (key: string) => void): () => void
}

export interface TenancyOptions {
  readonly objects: TenantObjects
  readonly namespaces: NamespaceLabels
  readonly rules: readonly ProjectRule[]
}

/** Assigns each object of a cluster to one project at a time, or to none (null). */
export class Tenancy {
  readonly #options: TenancyOptions
  readonly #projects = new Map<string, TenantProject>()
  readonly #known = new Map<string, KnownLoadBalancers>()
  readonly #assigned = new Map<string, Assignment>()
  /** Which objects depend on which namespaces: their own, and those with which they share addresses. */
  readonly #namespaces = new Dependents()
  readonly #listeners = new Map<string | null, Set<(key: string) => void>>()
  readonly #unsubscribe: (() => void)[]

  constructor(options: TenancyOptions) {
    const { objects, namespaces, rules } = options
    this.#options = options
    for (const { project } of rules) this.#projects.set(project, { name: project, id: null, ofUid: null })
    this.#unsubscribe = [
      objects.onChange((key) => this.#look(key, 'always')),
      namespaces.onChange((name) => {
        for (const key of this.#namespaces.of(name)) this.#look(key, 'always')
      }),
    ]
  }

  get ready(): boolean {
    return this.#options.objects.ready && this.#options.namespaces.ready
  }

  /** Calls back with the key of each object of the project that changed, joined or left. */
  onChange(project: string | null, listener: (key: string) => void): () => void {
    const listeners = this.#listeners.get(project) ?? new Set()
    this.#listeners.set(project, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  /** Registers a project of the rules with its id and load balancers. Call it before its controller starts. */
  join(project: string, id: string, known: KnownLoadBalancers): void {
    this.#known.set(project, known)
    this.#projects.set(project, { name: project, id, ofUid: null })
    this.#unsubscribe.push(known.onChange((change) => this.#shown(project, change)))
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  projectId(project: string): string | null {
    return this.#projects.get(project)?.id ?? null
  }

  assignmentOf(key: string): Assignment | null {
    return this.#assigned.get(key) ?? null
  }

  isOf(key: string, project: string | null): boolean {
    return projectOf(this.assignmentOf(key)) === project
  }

  /** Whether the object belongs to another project than this one. */
  isOfAnother(key: string, project: string | null): boolean {
    const assigned = this.assignmentOf(key)
    return assigned?.type === 'project' && assigned.project !== project
  }

  *keysOf(project: string | null): Iterable<string> {
    for (const key of this.#assigned.keys()) if (this.isOf(key, project)) yield key
  }

  /** Whether the project of the object is unknown now, or not one of ours. Then nothing of it is deleted. */
  isWithheld(key: string): boolean {
    const assigned = this.#assigned.get(key)
    return assigned?.type === 'unknown' || (assigned?.type === 'nobody' && assigned.isElsewhere)
  }

  /** Whether the rules give a namespace to the project. */
  isNamespaceOf(namespace: string, project: string): boolean {
    const ruling = this.#ruling(namespace)
    return ruling.type === 'project' && ruling.project === project
  }

  #ruling(namespace: string): Ruling {
    return projectOfNamespace(namespace, this.#options.namespaces.of(namespace), this.#options.rules)
  }

  #shown(project: string, change: LoadBalancerChange): void {
    const known = this.#known.get(project)
    const before = this.#projects.get(project)
    if (known === undefined || before === undefined || !known.listed) return
    if (before.ofUid === null) {
      this.#projects.set(project, { ...before, ofUid: (uid) => known.ofUid(uid) })
      for (const key of this.#namespaces.keys()) this.#look(key, 'when-it-changes')
    }
    const { kind } = this.#options.objects
    const keys = new Set(documentsOf(change).flatMap((document) => [...ownersOf(document, kind).values()]))
    for (const key of keys) if (this.#namespaces.has(key)) this.#look(key, 'when-it-changes')
  }

  #look(key: string, tell: 'always' | 'when-it-changes'): void {
    const found = this.#options.objects.get(key)
    const before = this.assignmentOf(key)
    let after: Assignment | null = null
    if (found !== null) {
      const { object, sharesWith, leaves } = found
      const namespace = object.metadata.namespace ?? ''
      this.#namespaces.depend(key, new Set([namespace, ...sharesWith]))
      after = assign(object, this.#ruling(namespace), [...this.#projects.values()], leaves)
      this.#assigned.set(key, after)
    } else {
      this.#namespaces.depend(key, new Set())
      this.#assigned.delete(key)
    }
    if (tell === 'when-it-changes' && JSON.stringify(before) === JSON.stringify(after)) return
    for (const project of new Set([projectOf(before), projectOf(after)]))
      if (project !== undefined) for (const listener of this.#listeners.get(project) ?? []) listener(key)
  }
}

/** The project of an assignment; null for no project; undefined while it is undecided. */
function projectOf(assigned: Assignment | null): string | null | undefined {
  if (assigned === null || assigned.type === 'unknown') return undefined
  return assigned.type === 'nobody' ? null : assigned.project
}
