import { rootNetns, runningShards } from '@spout/dataplane'
import type { VrrpSettings } from '@spout/model/node-state'
import { runIn } from '@spout/sys'
import type { NodePlace } from '../place.ts'

/** The VRRP shards of the node; null where its group has none, or the node was told of none. */
export type ElectionsReading = {
  readonly shards: readonly {
    readonly shard: number
    readonly state: string
    /** Peers whose adverts for this shard reached the interface, with their number. */
    readonly heard: readonly { readonly peer: string; readonly adverts: number }[]
  }[]
  /** Other nodes of the group, and whether they answer on the segment. */
  readonly peers: readonly { readonly address: string; readonly answers: boolean }[]
  readonly listenedMs: number
} | null

const PROBE_MS = 500

/**
 * Listens to adverts where they come in, ahead of the node's own filters, for the time of a few dozen of them. The table
 * that counts them is removed again.
 */
export async function readElections(place: NodePlace): Promise<ElectionsReading> {
  const settings = place.group?.vrrp ?? null
  if (settings === null) return null
  const [counts, peers] = await Promise.all([listen(place, settings), askPeers(place, settings)])
  // Read last: a shard that moved meanwhile counts as where it is now.
  const states = (await runningShards(place.directories.vrrp)) ?? []
  return {
    shards: settings.shards.map(({ number }) => ({
      shard: number,
      state: states.find(({ shard }) => shard === number)?.state ?? 'stopped',
      heard: settings.peers
        .map((peer, index) => ({ peer, adverts: counts.get(counterName(number, index)) ?? 0 }))
        .filter(({ adverts }) => adverts > 0),
    })),
    peers,
    listenedMs: listenMs(settings),
  }
}

const askPeers = ({ config, helper }: NodePlace, { peers }: VrrpSettings) => {
  const netns = rootNetns(config)
  const at = { ...(netns && { netns }), dev: config.fabricInterface, timeoutMs: PROBE_MS }
  return Promise.all(
    peers.map(async (address) => ({ address, answers: (await helper.arpProbe({ ...at, address })).answered })),
  )
}

const ADVERTS = 20
const listenMs = ({ advertMs }: VrrpSettings): number => Math.min(Math.max(ADVERTS * advertMs, 500), 5_000)
const counterName = (shard: number, peer: number): string => `shard${shard}peer${peer}`

async function listen({ config }: NodePlace, settings: VrrpSettings): Promise<ReadonlyMap<string, number>> {
  const namespace = config.rootNamespace ?? null
  const table = `spout-${config.instance}-doctor`
  const nft = (input: string) => runIn(namespace, ['nft', '-f', '-'], { input })
  if (settings.peers.length === 0) return new Map()
  await nft(countingTable(table, config.fabricInterface, settings))
  try {
    await new Promise((resolve) => setTimeout(resolve, listenMs(settings)))
    const shown = await runIn(namespace, ['nft', '--json', 'list', 'counters', 'table', 'netdev', table])
    const { nftables } = JSON.parse(shown) as {
      readonly nftables: readonly { readonly counter?: { readonly name: string; readonly packets: number } }[]
    }
    return new Map(nftables.flatMap(({ counter }) => (counter ? [[counter.name, counter.packets] as const] : [])))
  } finally {
    await nft(`delete table netdev ${table}\n`)
  }
}

/** The second byte of an advert is its router id (RFC 5798 section 5.1). Addresses are those of the control plane's settings. */
function countingTable(table: string, link: string, { peers, shards }: VrrpSettings): string {
  const pairs = shards.flatMap(({ number, routerId }) =>
    peers.map((peer, index) => ({ name: counterName(number, index), peer, routerId })),
  )
  const family = (peer: string): string => (peer.includes(':') ? 'ip6' : 'ip')
  return [
    `table netdev ${table}`,
    `delete table netdev ${table}`,
    `table netdev ${table} {`,
    ...pairs.map(({ name }) => `  counter ${name} { }`),
    '  chain heard {',
    `    type filter hook ingress device "${link}" priority -500; policy accept;`,
    ...pairs.map(
      ({ name, peer, routerId }) =>
        `    ${family(peer)} saddr ${peer} meta l4proto 112 @th,8,8 ${routerId} counter name ${name}`,
    ),
    '  }',
    '}',
    '',
  ].join('\n')
}
