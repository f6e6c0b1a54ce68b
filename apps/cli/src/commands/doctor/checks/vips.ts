import { type Finding, runbook } from '@spout/runtime/findings'
import type { Facts, ShownVip } from '../facts.ts'

/** Addresses that nobody announces, or two nodes do. */
export function checkVips({ vips, loadBalancers }: Facts): readonly Finding[] {
  const failed = new Set(loadBalancers.filter(({ status }) => status.provisioning !== 'active').map(({ id }) => id))
  const found = vips.flatMap((vip) => findingsOf(vip, failed))
  const announced = vips.filter(({ state }) => state === 'announced').length
  const message = `${announced} of ${vips.length} addresses are announced.`
  return [...found, { level: 'ok', check: 'addresses', subject: null, message, fix: null }]
}

/** @param failed ids of load balancers that do not work for a reason of their own, which another check says */
function findingsOf(
  { address, state, owners, loadBalancerId }: ShownVip,
  failed: ReadonlySet<string>,
): readonly Finding[] {
  const about = { level: 'error', check: 'addresses', subject: address } as const
  if (state === 'two-owners')
    return [{ ...about, message: `${owners.join(' and ')} both announce it.`, fix: runbook('Two nodes own a shard') }]
  if (state === 'announced' || failed.has(loadBalancerId)) return []
  return [{ ...about, message: 'No node announces it.', fix: `spout explain vip ${address}` }]
}
