import type { Address, Certificate, LoadBalancer } from '@spout/model'
import { certificatesNamed } from '@spout/plan'

/** An object that nothing uses. */
export interface Leftover {
  readonly kind: 'vip' | 'floating-ip' | 'port' | 'certificate'
  /** The id that clients use. */
  readonly id: string
  /** Its name; an address when it has none. */
  readonly name: string
  readonly projectId: string | null
  readonly reason: string
  /** Whether it takes up an address. An unused certificate does not. */
  readonly leaks: boolean
}

/** The objects of a project, or of all, as the API lists them; an address has its port's id. */
export interface Listed {
  readonly loadBalancers: readonly Pick<LoadBalancer, 'id' | 'listeners' | 'pools'>[]
  readonly addresses: readonly Pick<
    Address,
    'portId' | 'name' | 'address' | 'projectId' | 'use' | 'ownerId' | 'quarantineUntil'
  >[]
  readonly certificates: readonly Pick<Certificate, 'id' | 'name' | 'projectId'>[]
}

/** Objects that nothing uses. Addresses of nodes and gateways belong to the system, and those in quarantine expire. */
export function leftoversOf({ loadBalancers, addresses, certificates }: Listed): readonly Leftover[] {
  const owners = new Set(loadBalancers.map(({ id }) => id))
  const used = addresses.filter(({ quarantineUntil }) => quarantineUntil === null)
  const ports = new Set(used.map(({ portId }) => portId))
  const named = new Set(loadBalancers.flatMap((one) => [...certificatesNamed(one)].map(({ id }) => id)))
  const left = used.flatMap((one): Leftover[] => {
    const reason = whyLeft(one, owners, ports)
    if (reason === null) return []
    const { portId: id, name, address, projectId, use } = one
    const kind = use === 'floating' ? 'floating-ip' : use === 'vip' ? 'vip' : 'port'
    return [{ kind, id, name: name === '' ? address : `${name} ${address}`, projectId, reason, leaks: true }]
  })
  const unnamed = certificates.filter(({ id }) => !named.has(id))
  return [
    ...left,
    ...unnamed.map(({ id, name, projectId }): Leftover => {
      return { kind: 'certificate', id, name, projectId, reason: 'no listener or pool names it', leaks: false }
    }),
  ]
}

function whyLeft(
  { use, ownerId }: Pick<Address, 'use' | 'ownerId'>,
  owners: ReadonlySet<string>,
  ports: ReadonlySet<string>,
): string | null {
  switch (use) {
    case 'vip':
      return owners.has(ownerId ?? '') ? null : `its load balancer ${ownerId} is gone`
    case 'floating':
      if (ownerId === null) return 'it is bound to no port'
      return ports.has(ownerId) ? null : `its port ${ownerId} is gone`
    case 'port':
      if (ownerId === null) return 'no load balancer uses it'
      return owners.has(ownerId) ? null : `its load balancer ${ownerId} is gone`
    case 'node':
    case 'gateway':
      return null
  }
}
