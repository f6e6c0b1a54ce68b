import { type QuotaResource, SpoutError } from '@spout/model'
import type { Ip } from '@spout/net'
import { addUsage, NO_USAGE, overQuota, subtractUsage, type Usage } from '@spout/plan'
import type { AdmissionIndex } from '../indexes/admission-index.ts'
import { ClaimedUsage, type WantedUsage } from './claimed-usage.ts'

/**
 * The addresses, numbers and quota claimed by writes under way. Checking and claiming happen in one synchronous step.
 * So of two concurrent requests for the last free thing one is refused, without a lock and without waiting for the
 * other's disk flush. A claim ends when the view shows what was written.
 */
export class Claims {
  readonly #index: AdmissionIndex
  readonly #limitsOf: (projectId: string) => Usage
  readonly #open = new Set<Claim>()
  readonly #usage: ClaimedUsage

  constructor(index: AdmissionIndex, limitsOf: (projectId: string) => Usage) {
    this.#index = index
    this.#limitsOf = limitsOf
    this.#usage = new ClaimedUsage((key) => index.countedFor(key))
    index.onCounted((key) => this.#usage.recount(key))
  }

  open(): Claim {
    const claim = new Claim(this.#index, {
      used: (projectId, resource) => this.#index.usage(projectId)[resource] + this.#usage.of(projectId, resource),
      hold: (projectId, wanted) => this.#usage.hold(projectId, wanted),
      limits: this.#limitsOf,
      isNumberClaimed: (number) => [...this.#open].some((one) => one.networkNumbers.has(number)),
      isNameClaimed: (name) => [...this.#open].some((one) => one.names.has(name)),
      isUsed: (key) => [...this.#open].some((one) => one.uses.has(key)),
      isLeaving: (key) => [...this.#open].some((one) => one.leaving.has(key)),
      ofClass: (key) => [...this.#open].flatMap((one) => [...(one.ofClasses.get(key) ?? [])]),
      segmentHolders: (segment) => [...this.#open].flatMap((one) => one.segments.get(segment) ?? []),
      close: (closed) => this.#open.delete(closed),
    })
    this.#open.add(claim)
    return claim
  }
}

interface ClaimSurroundings {
  /** What the view shows of a resource, plus what open claims will add. */
  readonly used: (projectId: string, resource: QuotaResource) => number
  readonly hold: (projectId: string, wanted: WantedUsage) => () => void
  readonly limits: (projectId: string) => Usage
  readonly isNumberClaimed: (number: number) => boolean
  readonly isNameClaimed: (name: string) => boolean
  readonly isUsed: (key: string) => boolean
  readonly isLeaving: (key: string) => boolean
  readonly ofClass: (key: string) => readonly string[]
  readonly segmentHolders: (segment: string) => readonly string[]
  readonly close: (claim: Claim) => void
}

/** The claims of one write. It must be released, whether the write succeeds or not. */
export class Claim {
  readonly networkNumbers = new Set<number>()
  readonly names = new Set<string>()
  /** Objects that the write refers to, and objects that it deletes: `kind/id`. */
  readonly uses = new Set<string>()
  readonly leaving = new Set<string>()
  /** New load balancers by `<project id>/<class id>`. */
  readonly ofClasses = new Map<string, Set<string>>()
  /** Project id by segment. */
  readonly segments = new Map<string, string>()
  readonly #index: AdmissionIndex
  readonly #around: ClaimSurroundings
  readonly #usage = new Map<string, { readonly usage: Usage; readonly end: () => void }>()
  readonly #addresses: { readonly holderId: string; readonly ip: Ip }[] = []

  constructor(index: AdmissionIndex, around: ClaimSurroundings) {
    this.#index = index
    this.#around = around
  }

  /** Claims the quota of several objects together. @throws SpoutError OverQuota */
  quota(projectId: string, wanted: readonly WantedUsage[]): void {
    const more = wanted.reduce((sum, { key, usage }) => {
      const now = this.#usage.get(`${projectId}/${key}`)?.usage ?? this.#index.countedFor(key)
      return addUsage(sum, subtractUsage(usage, now))
    }, NO_USAGE)
    const usedOf = (resource: QuotaResource) => this.#around.used(projectId, resource)
    const refusal = overQuota(this.#around.limits(projectId), usedOf, more)
    if (refusal !== null) throw new SpoutError(refusal.code, refusal.params)
    for (const want of wanted) {
      const name = `${projectId}/${want.key}`
      this.#usage.get(name)?.end()
      this.#usage.set(name, { usage: want.usage, end: this.#around.hold(projectId, want) })
    }
  }

  address(holderId: string, ip: Ip): void {
    this.#index.addressIndex(holderId).hold(ip)
    this.#addresses.push({ holderId, ip })
  }

  /**
   * Claims a name that must be unique, such as `project/web`.
   * @returns false when another write under way claims it
   */
  name(name: string): boolean {
    if (this.#around.isNameClaimed(name)) return false
    this.names.add(name)
    return true
  }

  /**
   * Claims that an object stays, such as `certificate/<id>`, because what is written names it.
   * @returns false when a write under way deletes it
   */
  use(key: string): boolean {
    if (this.#around.isLeaving(key)) return false
    this.uses.add(key)
    return true
  }

  /**
   * Claims that nobody begins to use an object.
   * @returns false when a write under way does
   */
  leave(key: string): boolean {
    if (this.#around.isUsed(key)) return false
    this.leaving.add(key)
    return true
  }

  /**
   * Claims a segment for the project.
   * @returns false when a write under way claims it for another project
   */
  segment(segment: string, projectId: string): boolean {
    if (this.#around.segmentHolders(segment).some((holder) => holder !== projectId)) return false
    this.segments.set(segment, projectId)
    return true
  }

  /**
   * Claims that a project gets a load balancer of a class.
   * @returns ids of the load balancers of the class that writes under way create, this one included
   */
  ofClass(projectId: string, classId: string, loadBalancerId: string): readonly string[] {
    const key = `${projectId}/${classId}`
    const own = this.ofClasses.get(key) ?? new Set()
    this.ofClasses.set(key, own.add(loadBalancerId))
    return this.#around.ofClass(key)
  }

  networkNumber(): number | null {
    const number = this.#index.freeNetworkNumber(this.#around.isNumberClaimed)
    if (number !== null) this.networkNumbers.add(number)
    return number
  }

  release(): void {
    for (const { end } of this.#usage.values()) end()
    this.#usage.clear()
    for (const { holderId, ip } of this.#addresses) this.#index.addressIndex(holderId).unhold(ip)
    this.#around.close(this)
  }
}
