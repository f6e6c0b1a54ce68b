import { circlesOf, type Graph } from '../source-graph/graph.ts'

/** Files that are in a circle today. The list may only get shorter: whoever breaks a circle takes its files out. */
export const KNOWN: readonly string[] = [
  ...[
    'controller/address-group.ts',
    'controller/said-content.ts',
    'tenancy/project-cluster.ts',
    'tenancy/tenancy.ts',
  ].map((file) => `packages/intents/service/src/${file}`),
  ...'config domain holdings look main peer promise take tell'.split(' ').map((module) => `native/flows/${module}`),
  ...`announce arp_probe connect conntrack defend ethernet frame_send helper link netns nft_batch nft_counters nft_message
    nft_read nft_text ping request rtnl rtnl_addr rtnl_mark rtnl_route sctp time_slice tls traffic udp`
    .split(/\s+/)
    .map((module) => `native/src/${module}`),
]

/**
 * New circles of these graphs, and what is known to be in a circle and is in none any more, as lines.
 * @param known files that may be in a circle
 */
export function violations(graphs: readonly Graph[], known: readonly string[]): readonly string[] {
  const circles = graphs.flatMap(circlesOf)
  const inCircle = new Set(circles.flat())
  return [
    ...circles
      .filter((circle) => circle.some((file) => !known.includes(file)))
      .map((circle) => `a circle: ${circle.join(', ')}`),
    ...known
      .filter((file) => !inCircle.has(file))
      .map((file) => `${file} is in no circle any more: take it out of KNOWN`),
  ]
}
