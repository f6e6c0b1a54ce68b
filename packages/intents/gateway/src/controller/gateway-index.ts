import { isDeepStrictEqual } from 'node:util'
import { uidOf } from '@spout/connector'
import type { Gateway } from '../objects/gateway.ts'
import type { ListenerSet } from '../objects/listener-set.ts'
import { hasTls, ownSecretsOf, secretsOf } from '../to-model/listeners/certificates.ts'
import { allowsSet } from '../to-model/listeners/listener-parents.ts'
import type { Cluster } from './cluster.ts'
import type { GatewayControllerOptions } from './options.ts'
import { type Ownership, ownershipOf } from './ownership.ts'

/** A Gateway as it was last seen. */
export interface SeenGateway {
  readonly uid: string
  readonly ownership: Ownership
  /** Generation of the spec. */
  readonly generation: number
  /** Its key; null when it is not ours. */
  readonly unit: string | null
}

/** The Gateways as they were last seen, and the Secrets that ours name. */
export class GatewayIndex {
  readonly #cluster: Cluster
  readonly #certificates: GatewayControllerOptions['certificates']
  readonly #seen = new Map<string, SeenGateway>()
  readonly #secrets = new Map<string, ReadonlySet<string>>()

  constructor({ cluster, certificates }: Pick<GatewayControllerOptions, 'cluster' | 'certificates'>) {
    this.#cluster = cluster
    this.#certificates = certificates
  }

  get(key: string): SeenGateway | null {
    return this.#seen.get(key) ?? null
  }

  keys(): Iterable<string> {
    return this.#seen.keys()
  }

  isOurs(key: string): boolean {
    return this.#seen.get(key)?.ownership === 'ours'
  }

  /** Gateways that are served or waiting to be served. */
  get count(): number {
    return this.#seen.values().reduce((sum, { ownership }) => sum + (ownership === 'ours' ? 1 : 0), 0)
  }

  ownershipOf(gateway: Gateway): Ownership {
    const { gatewayClassName } = gateway.spec
    return ownershipOf(gateway, this.#cluster.gatewayClass(gatewayClassName), this.#cluster.isClaimed(gateway))
  }

  /** @param gateway undefined when it is gone @returns the previous entry, and whether the change may affect routes */
  put(
    key: string,
    gateway: Gateway | undefined,
  ): { readonly before: SeenGateway | null; readonly ownership: Ownership; readonly isChanged: boolean } {
    const before = this.get(key)
    const ownership = gateway === undefined ? 'foreign' : this.ownershipOf(gateway)
    if (gateway === undefined) this.#seen.delete(key)
    else this.#seen.set(key, seenOf(key, gateway, ownership))
    this.#nameSecrets(key)
    return { before, ownership, isChanged: !isDeepStrictEqual(before, this.get(key)) }
  }

  /** Called once cluster and project have been read: from now on, certificates that no Gateway names may be deleted. */
  complete(): void {
    for (const gateway of this.#seen.keys()) this.#nameSecrets(gateway)
    this.#certificates.complete('gateway')
  }

  /** The ListenerSets of a Gateway have changed. */
  listenerSetsChanged(key: string): void {
    this.#nameSecrets(key)
  }

  /** Grants or labels of namespaces have changed, so Gateways may read other Secrets than before. */
  nameSecretsAgain(): void {
    for (const gateway of [...this.#secrets.keys()]) this.#nameSecrets(gateway)
  }

  /** The Gateways that name a Secret. */
  ofSecret(secret: string): readonly string[] {
    return [...this.#secrets].flatMap(([gateway, secrets]) => (secrets.has(secret) ? [gateway] : []))
  }

  /** Whether all Secrets of a Gateway have been read. The Gateway is not compiled before. */
  knowsSecrets(key: string): boolean {
    return [...(this.#secrets.get(key) ?? [])].every((secret) => this.#certificates.of(secret).type !== 'waits')
  }

  /** Registers the Secrets that a Gateway of ours and its ListenerSets name and may read. */
  #nameSecrets(key: string): void {
    const gateway = this.isOurs(key) ? this.#cluster.gateway(key) : undefined
    const sets = gateway === undefined ? [] : this.#cluster.listenerSetsOf(key)
    const secrets = gateway === undefined ? new Set<string>() : this.#secretsOf(gateway, sets)
    // Kept even if no Secret may be read: a reference or a ListenerSet may be allowed once grants or labels change.
    if (gateway !== undefined && (hasTls(gateway) || sets.length > 0)) this.#secrets.set(key, secrets)
    else this.#secrets.delete(key)
    this.#certificates.name(`gateway:${key}`, secrets)
  }

  #secretsOf(gateway: Gateway, sets: readonly ListenerSet[]): ReadonlySet<string> {
    const grants = this.#cluster.grants()
    const allowed = sets.filter((set) => allowsSet(gateway, set, (namespace) => this.#cluster.labelsOf(namespace)))
    const named = [
      ownSecretsOf(gateway, allowed, grants),
      ...allowed.map((set) => secretsOf(set, grants, 'ListenerSet')),
    ]
    return named.reduce((all, own) => all.union(own), secretsOf(gateway, grants))
  }
}

const seenOf = (key: string, gateway: Gateway, ownership: Ownership): SeenGateway => ({
  uid: uidOf(gateway),
  ownership,
  generation: gateway.metadata.generation ?? 0,
  unit: ownership === 'ours' ? key : null,
})
