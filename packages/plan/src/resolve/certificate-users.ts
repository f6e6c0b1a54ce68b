import { type CertificateUse, certificatesOfPool, type LoadBalancer } from '@spout/model'

const NONE: ReadonlySet<string> = new Set()

/** The load balancers that use each certificate, by id. */
export class CertificateUsers {
  readonly #usersOf = new Map<string, Set<string>>()
  readonly #usedBy = new Map<string, ReadonlySet<string>>()

  of(certificateId: string): ReadonlySet<string> {
    return this.#usersOf.get(certificateId) ?? NONE
  }

  /** @param next null when it is gone */
  replace(loadBalancerId: string, next: Pick<LoadBalancer, 'listeners' | 'pools'> | null): void {
    const before = this.#usedBy.get(loadBalancerId) ?? NONE
    const after = new Set(next === null ? [] : certificatesNamed(next).map(({ id }) => id))
    for (const id of before.difference(after)) this.#remove(id, loadBalancerId)
    for (const id of after.difference(before)) {
      const users = this.#usersOf.get(id) ?? new Set()
      this.#usersOf.set(id, users.add(loadBalancerId))
    }
    if (after.size > 0) this.#usedBy.set(loadBalancerId, after)
    else this.#usedBy.delete(loadBalancerId)
  }

  #remove(certificateId: string, loadBalancerId: string): void {
    const users = this.#usersOf.get(certificateId)
    users?.delete(loadBalancerId)
    if (users?.size === 0) this.#usersOf.delete(certificateId)
  }
}

/** A certificate that a document names. */
export interface CertificateReference {
  /** Such as `pools[0].tls.caCertificateId`. */
  readonly field: string
  readonly id: string
  readonly use: CertificateUse
  /** The part that names it, for people. */
  readonly user: string
}

/** All certificates that a load balancer names, with repetitions. */
export const certificatesNamed = ({
  listeners,
  pools,
}: Pick<LoadBalancer, 'listeners' | 'pools'>): readonly CertificateReference[] => [
  ...listeners.flatMap((listener, at) => {
    const [user, field] = [`listener ${listener.name || listener.id}`, `listeners[${at}].tls`]
    const { certificateIds = [], clientCertificates = null } = listener.tls ?? {}
    return [
      ...certificateIds.map(
        (id, place): CertificateReference => ({ field: `${field}.certificateIds[${place}]`, id, use: 'keyed', user }),
      ),
      ...(clientCertificates === null
        ? []
        : [clientAuthorities(`${field}.clientCertificates`, clientCertificates.caCertificateId, user)]),
    ]
  }),
  ...pools.flatMap((pool, at) =>
    certificatesOfPool(pool).map(
      ({ field, id }): CertificateReference => ({
        field: `pools[${at}].tls.${field}`,
        id,
        use: field === 'caCertificateId' ? 'authorities' : 'keyed',
        user: `pool ${pool.name || pool.id}`,
      }),
    ),
  ),
]

const clientAuthorities = (field: string, id: string, user: string): CertificateReference => ({
  field: `${field}.caCertificateId`,
  id,
  use: 'authorities',
  user,
})
