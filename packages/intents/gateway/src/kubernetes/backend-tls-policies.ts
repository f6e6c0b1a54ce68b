import { type KindReflector, WhenReadable } from '@spout/connector'
import { type DeletionGuardPolicy, Reflector, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { BackendTlsPolicyObject } from '../objects/backend-tls-policy.ts'
import { BACKEND_TLS_POLICIES } from '../objects/resources.ts'
import { servicesOfPolicy } from '../to-model/backend-tls.ts'
import { trimmed, versioned } from './trimmed.ts'

export interface BackendTlsPoliciesOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

/** The BackendTLSPolicies of a cluster, read from when it has that kind and lets us read it. */
export class BackendTlsPolicies {
  readonly #reflector: Reflector<BackendTlsPolicyObject, BackendTlsPolicyObject>
  readonly #whenReadable: WhenReadable
  /** By Service; null when policies have changed since. */
  #ofServices: ReadonlyMap<string, readonly BackendTlsPolicyObject[]> | null = null

  constructor(options: BackendTlsPoliciesOptions) {
    const resource = BACKEND_TLS_POLICIES
    this.#reflector = new Reflector({ ...options, resource, trim: trimmed })
    const { transport, clock, log } = options
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: resource.kind, resources: [resource] },
      begin: () => void this.#reflector.start(),
    })
  }

  /** Those that run. */
  get reflectors(): readonly KindReflector[] {
    return this.#whenReadable.begun ? [{ kind: BACKEND_TLS_POLICIES.kind, reflector: this.#reflector }] : []
  }

  get ready(): boolean {
    return this.#whenReadable.begun ? this.#reflector.hasSynced : this.#whenReadable.isUnreadable
  }

  start(): void {
    this.#whenReadable.start()
  }

  async stop(): Promise<void> {
    await this.#whenReadable.stop()
    await this.#reflector.close()
  }

  onChange(listener: (key: string) => void): void {
    this.#reflector.onChange((key) => {
      this.#ofServices = null
      listener(key)
    })
  }

  get(key: string): BackendTlsPolicyObject | undefined {
    return versioned(this.#reflector, key)
  }

  /** Those that are for a Service. */
  ofService(service: string): readonly BackendTlsPolicyObject[] {
    this.#ofServices ??= this.#byService()
    return this.#ofServices.get(service) ?? []
  }

  #byService(): ReadonlyMap<string, readonly BackendTlsPolicyObject[]> {
    const found = new Map<string, BackendTlsPolicyObject[]>()
    for (const [, policy] of this.#reflector.list())
      for (const service of servicesOfPolicy(policy)) {
        const known = found.get(service) ?? []
        known.push(policy)
        found.set(service, known)
      }
    return found
  }
}
