import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type PacketSizes, readPacketSizes } from '../readings/packet-sizes.ts'

const FINDINGS = {
  FabricMissing: {
    level: 'error',
    what: 'the fabric interface of the settings does not exist, or is down',
    why: 'The node can announce and forward nothing.',
    fix: '`ip link set dev INTERFACE up`; or `fabric.interface` in the settings',
  },
  UplinkDiffers: {
    level: 'error',
    what: 'the uplink to a tenant network has another MTU than the fabric interface',
    why: 'The uplink got it when the network came to this node. Packets that are larger than the uplink takes are dropped without a word to the client; larger ones than the fabric takes must be sent again.',
    fix: '`ip link set dev UPLINK mtu NUMBER`, and in the namespace of the network',
  },
  SegmentMissing: {
    level: 'error',
    what: 'an interface that the settings name for a physical network does not exist',
    why: 'No tenant network on it can be carried here.',
    fix: '`segments` in the settings, or `ip link` to make it',
  },
  SegmentSmaller: {
    level: 'warning',
    what: 'a segment has a smaller MTU than the fabric',
    why: 'With return path dsr packets are forwarded unchanged: one that does not fit is dropped, and the client is not told.',
    fix: '`ip link set dev INTERFACE mtu NUMBER`',
  },
  TunnelDoesNotFit: {
    level: 'notice',
    what: 'a packet of the fabric does not fit into the tunnel to members behind routers',
    why: 'VXLAN adds 50 bytes (70 over IPv6). Larger packets are fragmented on the way, or lost.',
    fix: '`ip link set dev INTERFACE mtu NUMBER`; or `advmss` on the routes of the members (networks.md)',
  },
} as const satisfies Catalogue

const TUNNEL_BYTES = 70

export function judgePacketSizes(sizes: PacketSizes): readonly Found<keyof typeof FINDINGS>[] {
  const { fabric, namespace } = sizes
  const ip = namespace === null ? 'ip' : `ip -n ${namespace}`
  if (fabric === null || !fabric.up) {
    const fix = fabric === null ? 'name it in the settings: fabric.interface' : `${ip} link set dev ${fabric.name} up`
    const message = fabric === null ? 'It does not exist.' : 'It is down.'
    return [{ code: 'FabricMissing', subject: fabric?.name ?? 'the fabric interface', message, fix }]
  }
  return [...uplinks(sizes, fabric.mtu, ip), ...segments(sizes, fabric.mtu, ip), ...tunnels(sizes, fabric.mtu, ip)]
}

const uplinks = ({ domains }: PacketSizes, fabricMtu: number, ip: string): readonly Found<'UplinkDiffers'>[] =>
  domains
    .filter(({ rootMtu, uplinkMtu }) => rootMtu !== fabricMtu || uplinkMtu !== fabricMtu)
    .map(({ namespace, rootLink, rootMtu, uplink, uplinkMtu }) => ({
      code: 'UplinkDiffers',
      subject: rootLink,
      message: `Its MTU is ${Math.min(rootMtu, uplinkMtu)}, and the fabric's ${fabricMtu}.`,
      fix: `${ip} link set dev ${rootLink} mtu ${fabricMtu} && ip -n ${namespace} link set dev ${uplink} mtu ${fabricMtu}`,
    }))

const segments = ({ segments: all }: PacketSizes, fabricMtu: number, ip: string) =>
  all.flatMap(({ network, link, mtu }): readonly Found<'SegmentMissing' | 'SegmentSmaller'>[] => {
    if (mtu === null) {
      const message = `It does not exist, and ${network} is said to be on it.`
      return [{ code: 'SegmentMissing', subject: link, message, fix: 'name it in the settings: segments' }]
    }
    const message = `Its MTU is ${mtu}, and the fabric's ${fabricMtu}.`
    const fix = `${ip} link set dev ${link} mtu ${fabricMtu}`
    return mtu < fabricMtu ? [{ code: 'SegmentSmaller', subject: link, message, fix }] : []
  })

const tunnels = ({ domains }: PacketSizes, fabricMtu: number, ip: string): readonly Found<'TunnelDoesNotFit'>[] =>
  domains.flatMap(({ namespace, segmentMtu, tunnels: names }) =>
    names.length === 0 || segmentMtu === null || segmentMtu >= fabricMtu + TUNNEL_BYTES
      ? []
      : [
          {
            code: 'TunnelDoesNotFit',
            subject: namespace,
            message: `Its segment has an MTU of ${segmentMtu}; a packet of ${fabricMtu} and its VXLAN header need ${fabricMtu + TUNNEL_BYTES}.`,
            fix: `${ip} link set dev INTERFACE mtu ${fabricMtu + TUNNEL_BYTES} for its segment, or advmss on the routes of its members`,
          },
        ],
  )

export const packetSizes = checkOf({
  name: 'packet sizes',
  catalogue: FINDINGS,
  read: readPacketSizes,
  judge: judgePacketSizes,
  right: ({ fabric, domains }) => `The MTU is ${fabric?.mtu} on the fabric and on ${domains.length} uplinks.`,
})
