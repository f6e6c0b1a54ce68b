import { type Finding, runbook } from '@spout/runtime/findings'
import type { Facts, ShownNode } from '../facts.ts'

/** Nodes that are not connected, report a problem, or lack behind. */
export function checkNodes({ nodes }: Facts): readonly Finding[] {
  if (nodes.length === 0)
    return [
      {
        ...{ level: 'error', check: 'nodes', subject: null, message: 'No node is enrolled: nothing carries traffic.' },
        fix: 'docs/operations.md, "A new node"',
      },
    ]
  const found = nodes.flatMap(findingsOf)
  const connected = nodes.filter(({ status }) => status.connection === 'connected').length
  const all: Finding = {
    ...{ level: 'ok', check: 'nodes', subject: null, fix: null },
    message: `${connected} of ${nodes.length} nodes are connected.`,
  }
  return [...found, all]
}

function findingsOf(node: ShownNode): readonly Finding[] {
  const about = { check: 'nodes', subject: node.name }
  const { status } = node
  if (status.connection === 'never')
    return [
      {
        ...{ ...about, level: 'warning', message: 'It is enrolled and has never reported.' },
        fix: `start its agent, or remove it: spout node delete ${node.name}`,
      },
    ]
  if (status.connection === 'disconnected')
    return [
      {
        ...{
          ...about,
          level: 'error',
          message: `It has not reported since ${status.lastReportAt}; changes do not reach it.`,
        },
        fix: runbook('A node is disconnected'),
      },
    ]
  return [
    ...status.problems.map(
      ({ code, message }): Finding => ({
        ...{ ...about, level: 'error', message: `${message} (${code})` },
        fix: `docs/runbook.md, the row of ${code}`,
      }),
    ),
    ...status.addressConflicts.map(
      ({ address, mac, since }): Finding => ({
        ...{ ...about, level: 'error', message: `${mac} claims its address ${address} since ${since}.` },
        fix: runbook('Somebody claims an address of a node'),
      }),
    ),
    ...status.bgpSessions
      .filter(({ state }) => state !== 'established')
      .map(
        ({ peerId, state, lastError }): Finding => ({
          ...{ ...about, level: 'error' },
          message: `Its BGP session with peer ${peerId} is ${state}${lastError === null ? '' : `: ${lastError}`}.`,
          fix: runbook('A BGP session is down'),
        }),
      ),
    ...silentPeers(node),
    ...behind(node),
    ...outOfUse(node),
  ]
}

function silentPeers({ name, status: { flows } }: ShownNode): readonly Finding[] {
  if (flows === null || (flows.silent === 0 && flows.error === null)) return []
  const message =
    flows.error === null
      ? `It does not hear the flows of ${flows.silent} of ${flows.peers} nodes: connections through them break when they fail.`
      : `It shares no flows (${flows.error}): connections break when it fails.`
  const fix = runbook("Nodes do not hear of each other's flows")
  return [{ level: 'warning', check: 'nodes', subject: name, message, fix }]
}

const behind = ({ name, status }: ShownNode): readonly Finding[] =>
  status.inSync
    ? []
    : [
        {
          ...{
            level: 'notice',
            check: 'nodes',
            subject: name,
            message: 'It has not confirmed the newest changes yet.',
          },
          fix: `if it stays so: spout explain lb NAME says what ${name} waits for`,
        },
      ]

const outOfUse = ({ name, scheduling, schedulingSince, clusterScheduling }: ShownNode): readonly Finding[] => {
  if (scheduling === 'enabled') return []
  const own = scheduling === 'draining' ? `spout node undrain ${name}` : `spout node uncordon ${name}`
  const [why, fix] =
    clusterScheduling === undefined || clusterScheduling.own === scheduling
      ? ['', own]
      : [`, for its Kubernetes cluster: ${clusterScheduling.reason}`, `kubectl describe node ${name}`]
  const message = `It is ${scheduling} since ${schedulingSince} and takes no new load balancers${why}.`
  return [{ level: 'notice', check: 'nodes', subject: name, message, fix }]
}
