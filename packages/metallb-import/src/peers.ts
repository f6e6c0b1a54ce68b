import type { BgpPeerSpec } from '@spout/custom-resources'
import type { LabelSelector, SpecOf } from './kinds.ts'
import { shown } from './manifest.ts'
import { type Note, noteOf, type Source } from './source.ts'

const HOSTNAME = 'kubernetes.io/hostname'

export interface ConvertedPeer {
  readonly source: Source<'BGPPeer'>
  /** Null: it cannot be converted; a note says why. */
  readonly spec: BgpPeerSpec | null
  readonly notes: readonly Note[]
}

/** @param group the node group of its `myASN` */
export function convertPeer(
  source: Source<'BGPPeer'>,
  profiles: ReadonlyMap<string, SpecOf<'BFDProfile'>>,
  group: string,
): ConvertedPeer {
  const { spec } = source
  const notes: Note[] = []
  const note = (field: string | null, text: string): void =>
    void notes.push(noteOf(source, field && `spec.${field}`, text))
  const asn = spec.peerASN || (spec.dynamicASN === 'internal' ? spec.myASN : 0)
  if (asn === 0) {
    note(spec.dynamicASN ? 'dynamicASN' : 'peerASN', 'the AS of a peer must be said: the peer is left out')
    return { source, spec: null, notes }
  }
  if (!spec.peerAddress && !spec.interface) {
    note('peerAddress', 'neither it nor interface is said: the peer is left out')
    return { source, spec: null, notes }
  }
  if (spec.interface && !spec.peerAddress)
    note(
      'interface',
      `${shown(spec.interface)} becomes the fabric interface of each node, which its agent is configured with`,
    )
  if (spec.ebgpMultiHop) note('ebgpMultiHop', 'becomes 255 hops: set spec.hops to what the way has')
  if (spec.bfdProfile && !profiles.has(spec.bfdProfile))
    note('bfdProfile', `${shown(spec.bfdProfile)} is not among what was read: BFD is off`)
  const times = timesOf(spec, note)
  return {
    source,
    notes,
    spec: {
      ...(spec.peerAddress ? { peerAddress: spec.peerAddress } : { unnumbered: true }),
      peerASN: asn,
      ...(spec.peerPort ? { peerPort: spec.peerPort } : {}),
      ...(spec.ebgpMultiHop ? { hops: 255 } : {}),
      ...times,
      ...(spec.dualStackAddressFamily ? { families: ['ipv4', 'ipv6'] } : {}),
      bfd: bfdOf(profiles.get(spec.bfdProfile ?? '')),
      // The default is on here and off in MetalLB.
      ...(spec.enableGracefulRestart ? {} : { gracefulRestartSeconds: 0 }),
      ...nodesOf(spec.nodeSelectors ?? [], group, note),
    },
  }
}

type Say = (field: string, text: string) => void
type Times = Pick<BgpPeerSpec, 'holdTimeSeconds' | 'keepaliveTimeSeconds' | 'connectTimeSeconds'>

function timesOf({ holdTime, keepaliveTime, connectTime }: SpecOf<'BGPPeer'>, note: Say): Times {
  if (!holdTime) note('holdTime', 'is not said: 9 s here, 90 s or 180 s with MetalLB')
  const hold = within('holdTime', holdTime, 3, 65_535, note)
  const keepalive = within('keepaliveTime', keepaliveTime, 1, 21_845, note)
  const fits = keepalive === undefined || 3 * keepalive <= (hold ?? 9)
  if (!fits) note('keepaliveTime', 'is more than a third of the hold time: left out')
  // A speaker's own default is a third of the hold time; here it is explicit.
  const own = fits ? keepalive : undefined
  const connect = within('connectTime', connectTime, 1, 3600, note)
  return {
    ...(hold === undefined ? {} : { holdTimeSeconds: hold }),
    ...(own === undefined
      ? hold === undefined || hold >= 9
        ? {}
        : { keepaliveTimeSeconds: Math.floor(hold / 3) }
      : { keepaliveTimeSeconds: own }),
    ...(connect === undefined ? {} : { connectTimeSeconds: connect }),
  }
}

function within(field: string, value: number | null | undefined, least: number, most: number, note: Say) {
  if (value === null || value === undefined) return undefined
  if (Number.isInteger(value) && value >= least && value <= most) return value
  note(field, `${value} s is none of ${least} s to ${most} s in whole seconds: left out`)
  return undefined
}

const bfdOf = (profile: SpecOf<'BFDProfile'> | undefined): NonNullable<BgpPeerSpec['bfd']> =>
  profile === undefined
    ? { profile: 'none' }
    : {
        // MetalLB's defaults.
        minTransmitMs: profile.transmitInterval ?? 300,
        minReceiveMs: profile.receiveInterval ?? 300,
        multiplier: profile.detectMultiplier ?? 3,
      }

/** Host names become node names; nodes here have no other labels. */
function nodesOf(
  selectors: readonly LabelSelector[],
  group: string,
  note: Say,
): Pick<BgpPeerSpec, 'nodes' | 'nodeGroups'> {
  const hosts = selectors.map(hostsOf)
  if (selectors.length > 0 && hosts.every((names) => names !== null)) {
    note('nodeSelectors', 'host names become names of Spout nodes: they must be enrolled under these')
    return { nodes: [...new Set(hosts.flat())] }
  }
  if (selectors.length > 0)
    note('nodeSelectors', `selects by labels, which nodes do not have here: every node of ${group} speaks with it`)
  return { nodeGroups: [group] }
}

function hostsOf({ matchLabels, matchExpressions, ...rest }: LabelSelector): readonly string[] | null {
  const labels = Object.entries(matchLabels ?? {})
  const expressions = matchExpressions ?? []
  if (Object.keys(rest).length > 0 || labels.length + expressions.length !== 1) return null
  const [[key, value] = []] = labels
  if (key === HOSTNAME && value !== undefined) return [value]
  const [expression] = expressions
  const isHosts = expression?.key === HOSTNAME && expression.operator === 'In' && (expression.values?.length ?? 0) > 0
  return isHosts ? (expression.values ?? null) : null
}
