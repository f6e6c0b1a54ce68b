import type { Address, AddressChange, LoadBalancer } from '@spout/model'
import type { Write } from '@spout/store'
import type { AdmissionContext } from '../claims/context.ts'
import type { DryRun } from '../contract/dry-run.ts'
import type { LoadBalancerAdmission } from '../contract/load-balancer-admission.ts'
import { LoadBalancers } from './load-balancers.ts'

/** See `DryRuns`. */
export async function dryRun(
  context: AdmissionContext,
  id: string | null,
  write: (admission: LoadBalancerAdmission) => Promise<unknown>,
): Promise<DryRun> {
  const planned: Write[] = []
  // To place it would count it at once.
  const dry = {
    ...context,
    placing: () => null,
    insteadOfCommit: (writes: readonly Write[]) => planned.push(...writes),
  }
  await write(writesOf(new LoadBalancers(dry)))
  const before = id === null ? null : (context.view.get('loadBalancer', id)?.value ?? null)
  const own = planned.find(({ kind }) => kind === 'loadBalancer')
  const after = own === undefined ? before : own.op === 'put' ? (own.value as LoadBalancer) : null
  return { before, after, addresses: planned.flatMap((one) => addressChange(context, one)) }
}

/** Each run has a queue of its own: no other write of the load balancer waits for it. */
const writesOf = (loadBalancers: LoadBalancers): LoadBalancerAdmission => ({
  createLoadBalancer: (draft, turn) => loadBalancers.create(draft, turn),
  changeLoadBalancer: (id, change) => loadBalancers.change(id, change),
  changeLongLoadBalancer: (id, change, turn) => loadBalancers.changeLong(id, change, turn),
  changeMembers: (...change) => loadBalancers.changeMembers(...change),
  deleteLoadBalancer: (id, options) => loadBalancers.delete(id, options),
  addVip: (id, request) => loadBalancers.addVip(id, request),
  removeVip: (id, address) => loadBalancers.removeVip(id, address),
})

function addressChange({ view }: AdmissionContext, write: Write): readonly AddressChange[] {
  if (write.kind !== 'address') return []
  const stored = view.get('address', write.id)?.value
  if (write.op === 'delete')
    return stored === undefined ? [] : [{ address: stored.address, change: 'released', restSeconds: 0 }]
  const next = write.value as Address
  const { address } = next
  if (next.quarantineUntil !== null) {
    const restSeconds = Math.round((Date.parse(next.quarantineUntil) - Date.parse(next.updatedAt ?? '')) / 1000)
    return [{ address, change: 'released', restSeconds }]
  }
  if (next.use === 'vip') return [{ address, change: 'taken', restSeconds: 0 }]
  return [{ address, change: next.ownerId === null ? 'unbound' : 'bound', restSeconds: 0 }]
}
