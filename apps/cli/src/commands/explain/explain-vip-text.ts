import { styleText } from 'node:util'
import { findAnnouncer } from '@spout/model'
import { printable } from '@spout/runtime/printable'
import { colourStatus } from '../../output/status-colour.ts'
import { type Problem, problemText } from '../../resources/nodes.ts'
import { type Move, moveText } from '../../resources/vips.ts'

/** The answer of `GET /vips/{address}/explain`. */
export interface VipExplanation {
  readonly address: string
  readonly scope: string
  readonly announcer: string
  readonly shard: number | null
  readonly nodeGroup: string | null
  readonly state: string
  readonly owners: readonly string[]
  readonly lastMove: Move | null
  readonly loadBalancer: {
    readonly id: string
    readonly name: string
    readonly provisioning: string
    readonly message: string
  }
  readonly decision: { readonly message: string }
  readonly routerId: number | null
  readonly profile: string | null
  readonly policy: string | null
  readonly shardState: {
    readonly state: string
    readonly master: string | null
    readonly nodes: readonly { readonly node: string; readonly state: string; readonly since: string }[]
  } | null
  readonly nodes: readonly {
    readonly node: string
    readonly connection: string
    readonly scheduling: string | null
    readonly entry: string
    readonly message: string | null
    readonly announces: boolean
    readonly problems?: readonly Problem[]
    readonly sessions?: readonly { readonly peer: string; readonly state: string; readonly lastError: string | null }[]
  }[]
}

/** Prints why an address is announced where it is: the decision, then the part of every node. */
export function explainVipText(vip: VipExplanation, colour: boolean): string {
  const status = (text: string): string => colourStatus(text, colour)
  const { loadBalancer, shardState } = vip
  const title = `VIP ${vip.address} (${vip.scope})`
  const lines = [
    `${colour ? styleText('bold', title) : title}: ${status(vip.state)}${vip.owners.length > 0 ? ` by ${vip.owners.join(', ')}` : ''}`,
    `  of     load balancer ${printable(loadBalancer.name || loadBalancer.id)}, ${status(loadBalancer.provisioning)}: ${printable(loadBalancer.message)}`,
    `  by     ${wayText(vip)}`,
    `  why    ${printable(vip.decision.message)}`,
    ...(vip.lastMove ? [`  moved  ${vip.lastMove.at}: ${moveText(vip.lastMove)}`] : []),
    '',
    ...vip.nodes.flatMap((node) => nodeLines(node, shardState, status)),
  ]
  return `${lines.join('\n')}\n`
}

function wayText({ announcer, shard, nodeGroup, routerId, profile, policy, shardState }: VipExplanation): string {
  const group = `group ${printable(nodeGroup ?? '-')}`
  if (shard !== null)
    return `${announcer}: shard ${shard} of ${group} (router id ${routerId ?? '-'}, profile ${profile ?? '-'}), ${
      shardState === null ? 'not reported by any node' : `${shardState.state}, master ${shardState.master ?? 'none'}`
    }`
  if (findAnnouncer(announcer)?.announcedBy === 'every-node')
    return `${announcer}: every node of ${group}, ${policy === 'healthy' ? 'while a member is up' : 'always'}`
  return `${announcer}: one node of ${group}, chosen by the planner`
}

function nodeLines(
  node: VipExplanation['nodes'][number],
  shardState: VipExplanation['shardState'],
  status: (text: string) => string,
): readonly string[] {
  const role = shardState?.nodes.find((one) => one.node === node.node)
  const words = [
    status(node.connection),
    ...(node.scheduling === null || node.scheduling === 'enabled' ? [] : [status(node.scheduling)]),
    `${status(node.entry)}${node.message ? ` (${printable(node.message)})` : ''}`,
    ...(role === undefined ? [] : [`${role.state} since ${role.since}`]),
    node.announces ? 'announces it' : 'does not announce it',
  ]
  return [
    `${node.node}: ${words.join(', ')}`,
    ...(node.sessions ?? []).map(
      ({ peer, state, lastError }) =>
        `  session with ${printable(peer)}: ${status(state)}${lastError ? ` (${printable(lastError)})` : ''}`,
    ),
    ...(node.problems ?? []).map((problem) => `  ${problemText(problem)}`),
  ]
}
