import type { FlowsReport, NodeStatus } from '@spout/model'

const missedBy = ({ at, expected, came }: NonNullable<FlowsReport['lastMiss']>): NodeStatus['problems'][number] => ({
  code: 'FlowsMissed',
  message: `When a shared address came to it at ${at}, it had ${came} of the ${expected} flows ready that another node carried: the others ended.`,
})

/**
 * Problems that keep flows from outliving their node. A peer that is disconnected altogether is not listed, because its
 * own status shows that.
 * @param peerAt the name of the group's node at a fabric address; null if there is none, or it is not connected
 */
export function flowProblems(
  flows: FlowsReport | null,
  peerAt: (address: string) => string | null,
): NodeStatus['problems'] {
  if (flows === null) return []
  const broken = { code: 'FlowsNotReplicated', message: `It does not replicate flows: ${flows.error}.` }
  const silent = flows.silentPeers.flatMap(({ address, lastHeard }) => {
    const name = peerAt(address)
    if (name === null) return []
    const since = lastHeard === null ? 'was never heard' : `was last heard at ${lastHeard}`
    const message = `Node \`${name}\` (${address}) ${since}: flows do not outlive either of them. Look at UDP port 7300 between their fabric addresses.`
    return [{ code: 'FlowPeerSilent', message }]
  })
  const missed = flows.lastMiss ? [missedBy(flows.lastMiss)] : []
  return [...(flows.error === null ? [] : [broken]), ...silent, ...missed]
}
