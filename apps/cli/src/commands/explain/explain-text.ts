import { styleText } from 'node:util'
import { printable } from '@spout/runtime/printable'
import { colourStatus } from '../../output/status-colour.ts'
import { routeLines } from './explain-route-text.ts'
import type { ExplainedListener, ExplainedPool, Explanation } from './explanation.ts'

/** How members' replies come back, by return path. */
export const RETURN_PATHS: Readonly<Record<string, string>> = {
  gateway: "members reply through the load-balancer node's gateway address: they see the client's own address",
  dsr: "members hold the VIP and answer clients directly, not through the load-balancer node: they see the client's own address",
  node: "each member's node balances to its own members and answers clients: they see the client's own address",
  snat: "members reply to the load-balancer node's own address: they do not see the client's",
}

const called = ({ name, id }: { readonly name: string; readonly id: string }): string => printable(name || id)

/** Prints the path of a load balancer hop by hop, as an indented tree. */
export function explainText(explanation: Explanation, colour: boolean): string {
  const { state, serving, notice, owner, ownerReason, lastChange } = explanation
  const status = (text: string): string => colourStatus(text, colour)
  const title = `Load balancer ${called(explanation.loadBalancer)}`
  const lines = [
    `${colour ? styleText('bold', title) : title}: ${status(state.provisioning)}. ${printable(state.message)}`,
    ...(serving === undefined ? [] : [`Serving: ${status(serving.state)}. ${printable(serving.message)}`]),
    ...(notice === undefined ? [] : [`Notice: ${printable(notice.message)}`]),
    '',
    ...explanation.vips.flatMap(({ address, scope, announcedBy, pool }) => [
      `client -> ${address} (${scope}), ${announcedBy.length > 0 ? `announced by ${announcedBy.join(', ')}` : 'announced by nobody'}`,
      ...(pool?.draining
        ? [`  pool   address pool ${printable(pool.name)} is draining: the address stays, new ones come from elsewhere`]
        : []),
    ]),
    ...(explanation.dns ?? []).map(
      ({ name, state: became, message }) => `  name   ${printable(name)}: ${status(became)}. ${printable(message)}`,
    ),
    `  node   ${owner ? `${owner.name ?? owner.id} (${status(owner.connection)})` : 'none'}: ${printable(ownerReason.message)}`,
    ...explanation.listeners.flatMap((listener) => listenerLines(listener, explanation.pools, status)),
    ...unusedPools(explanation).flatMap((pool) => [`  pool ${called(pool)} is used by no listener`]),
    ...(explanation.proxy ? [`  proxy  ${proxyText(explanation.proxy)}`] : []),
    ...(explanation.returnPath ? [`  back   ${RETURN_PATHS[explanation.returnPath] ?? explanation.returnPath}`] : []),
    ...(explanation.connections ? [`  flows  ${explanation.connections}`] : []),
    '',
    ...explanation.nodes.map(
      ({ nodeName, connection, state: confirmation, message }) =>
        `${nodeName}: ${status(connection)}, ${status(confirmation)}${message ? `: ${printable(message)}` : ''}`,
    ),
    `last change: generation ${lastChange.generation} at ${lastChange.at}; ${confirmed(lastChange)}`,
  ]
  return `${lines.join('\n')}\n`
}

const proxyText = (proxy: NonNullable<Explanation['proxy']>): string => `${processText(proxy)}${sizesText(proxy)}`

function sizesText({ requestSizes: sizes }: NonNullable<Explanation['proxy']>): string {
  if (sizes === undefined) return ''
  const most = [
    ...(sizes.headerBytes === null ? [] : [`headers of more than ${sizes.headerBytes} bytes`]),
    ...(sizes.bodyBytes === null ? [] : [`bodies of more than ${sizes.bodyBytes} bytes`]),
  ]
  return `; requests with ${most.join(' or ')} are refused`
}

function processText({ dedicated, className, limits = {} }: NonNullable<Explanation['proxy']>): string {
  if (!dedicated) return "the process of its network on each node, which the network's other load balancers share"
  const bounds = [
    ...(limits.memoryMegabytes === undefined ? [] : [`${limits.memoryMegabytes} MB`]),
    ...(limits.processors === undefined ? [] : [`${limits.processors} processors`]),
    ...(limits.connections === undefined ? [] : [`${limits.connections} connections`]),
  ]
  const most = bounds.length === 0 ? '' : `, with at most ${bounds.join(', ')}`
  return `a process of its own on each node${most}: its class is ${printable(className ?? 'unknown')}`
}

const confirmed = ({ generation, confirmedGeneration, confirmedAt }: Explanation['lastChange']): string =>
  confirmedGeneration === generation && confirmedAt
    ? `the node confirmed it at ${confirmedAt}`
    : confirmedGeneration > 0
      ? `the node has confirmed generation ${confirmedGeneration} so far`
      : 'no node has confirmed it yet'

const unusedPools = ({ listeners, pools }: Explanation): readonly ExplainedPool[] =>
  pools.filter((pool) => !listeners.some((listener) => poolsOf(listener).has(pool.id)))

/** Ids of a listener's default pool and of those of its routes. */
const poolsOf = ({ poolId, routes }: ExplainedListener): ReadonlySet<string | null> =>
  new Set([
    poolId,
    ...routes.flatMap(({ action }) =>
      [...(action.pools ?? []), ...(action.mirrors ?? []), action.authorizer ?? []].flat().map(({ poolId }) => poolId),
    ),
  ])

function listenerLines(
  listener: ExplainedListener,
  pools: readonly ExplainedPool[],
  status: (text: string) => string,
): readonly string[] {
  const used = poolsOf(listener)
  const allowed = listener.allowedCidrs ? `, only from ${listener.allowedCidrs.join(', ') || 'nobody'}` : ''
  const revoked = listener.clientRevocations ? ', not on its lists of revoked ones' : ''
  const asked = listener.clientCertificates ? `, client certificates ${listener.clientCertificates}${revoked}` : ''
  return [
    `  listen ${called(listener)}: ${listener.protocol} ${listener.port}${allowed}${asked}${listener.why ? `; ${listener.why}` : ''}`,
    ...routeLines(listener.routes, pools),
    ...(listener.others ? [`    others ${called(listener.others)} of this port gets what no route takes`] : []),
    ...pools.filter(({ id }) => used.has(id)).flatMap((pool) => poolLines(pool, status)),
  ]
}

const tlsText = ({ tls }: ExplainedPool): string => {
  if (!tls) return ''
  if (!tls.checked) return ', TLS to members, whose certificates are not checked'
  const revoked = tls.revocations ? ', not on its lists of revoked ones' : ''
  return `, TLS to members, whose certificates must be of its authorities${revoked}${tls.serverName === null ? '' : ` and name ${tls.serverName}`}`
}

function poolLines(pool: ExplainedPool, status: (text: string) => string): readonly string[] {
  return [
    `    pool ${called(pool)}: ${pool.algorithm}${tlsText(pool)}${pool.refusedPercent ? `; ${pool.refusedPercent} % of new connections are refused` : ''}${pool.panic ? '; PANIC: too many members are down at once, so health is ignored' : ''}`,
    ...pool.members.map((member) => {
      const health = pool.monitored
        ? `${status(member.health)}${member.reason ? ` (${printable(member.reason)})` : ''}`
        : 'not probed'
      return `      ${called(member)}: ${member.address} port ${member.port}, weight ${member.weight}, ${health}${member.why ? `; gets no new connections: ${member.why}` : ''}`
    }),
  ]
}
