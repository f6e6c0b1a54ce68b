import { type AddressPool, hasShards, type NodeGroup, type NodeStatus, type OperatorProblem } from '@spout/model'
import { poolSpace, spaceSize } from '@spout/plan'
import { healthOf } from '../live/health.ts'
import type { NativeContext } from '../operations/context.ts'
import { runbookOf } from './runbook.ts'

type Seen = Pick<NativeContext, 'view' | 'status' | 'ownership' | 'clock'>
type Found = Pick<OperatorProblem, 'level' | 'code' | 'message'>

/** A pool with less than this part of it free is about to run out. */
const FEW_FREE = 0.1
const NEVER_SEEN = 'It is enrolled and has never reported.'

/**
 * What an operator should look at now, what is worst first: shards, nodes, pools, then load balancers. It reads the
 * status of every load balancer, which is cached.
 */
export function problemsOf(context: Seen): readonly OperatorProblem[] {
  const { view, status } = context
  const found = [
    ...view.list('nodeGroup').flatMap((group) => about('nodeGroup', group, shardProblems(context, group))),
    ...view.list('node').flatMap((node) => about('node', node, nodeProblems(status.node(node.id)))),
    ...poolProblems(context),
    ...view.list('loadBalancer').flatMap((one) => about('loadBalancer', one, loadBalancerProblems(context, one))),
  ]
  return [...found.filter(({ level }) => level === 'error'), ...found.filter(({ level }) => level === 'warning')]
}

const about = (
  kind: OperatorProblem['object']['kind'],
  { id, name }: { readonly id: string; readonly name: string },
  found: readonly Found[],
): readonly OperatorProblem[] =>
  found.map((one) => ({ ...one, object: { kind, id, name }, runbook: runbookOf(one.code) }))

const error = (code: string, message: string): Found => ({ level: 'error', code, message })

const shardProblems = ({ ownership }: Seen, group: NodeGroup): readonly Found[] =>
  hasShards(group)
    ? ownership.shards(group.id).flatMap(({ number, state, masterNodeIds }) => {
        if (state === 'no-owner') return [error('NoOwner', `No node owns shard ${number}.`)]
        if (state === 'two-owners') return [error('TwoOwners', `${masterNodeIds.length} nodes own shard ${number}.`)]
        return []
      })
    : []

function nodeProblems({ connection, lastReportAt, problems, bgpSessions }: NodeStatus): readonly Found[] {
  if (connection === 'never') return [{ level: 'warning', code: 'NodeDisconnected', message: NEVER_SEEN }]
  if (connection === 'disconnected')
    return [error('NodeDisconnected', `It has not reported since ${lastReportAt ?? 'this control plane leads'}.`)]
  return [
    ...problems.map(({ code, message }) => error(code, message)),
    ...bgpSessions
      .filter(({ state }) => state !== 'established')
      .map(({ state, lastError }) =>
        error('BgpSessionDown', `A BGP session is ${state}${lastError === null ? '' : `: ${lastError}`}.`),
      ),
  ]
}

function poolProblems({ view, clock }: Seen): readonly OperatorProblem[] {
  const now = clock.now().toISOString()
  const taken = new Map<string, number>()
  for (const { scope, holderId, quarantineUntil } of view.list('address'))
    if (scope === 'fabric' && (quarantineUntil === null || quarantineUntil > now))
      taken.set(holderId, (taken.get(holderId) ?? 0) + 1)
  return view
    .list('addressPool')
    .filter(({ draining }) => !draining)
    .flatMap((pool) => about('addressPool', pool, poolProblem(pool, taken.get(pool.id) ?? 0)))
}

function poolProblem(pool: AddressPool, taken: number): readonly Found[] {
  const total = Number(spaceSize(poolSpace(pool)))
  const free = Math.max(0, total - taken)
  if (free > total * FEW_FREE) return []
  const message = `${free} of ${total} addresses are free.`
  return [{ level: free === 0 ? 'error' : 'warning', code: 'Exhausted', message }]
}

function loadBalancerProblems({ status }: Seen, one: Parameters<typeof healthOf>[0] & { readonly id: string }) {
  const summary = status.summary(one.id)
  const { health, reason } = healthOf(one, summary)
  if (reason === null || (health !== 'failed' && health !== 'degraded')) return []
  const { provisioning, serving, notice } = summary
  const code = provisioning === 'error' ? summary.reason : serving.state === 'yes' ? notice?.reason : serving.reason
  const found: Found = {
    level: health === 'failed' ? 'error' : 'warning',
    code: code ?? serving.reason,
    message: reason,
  }
  return [found]
}
