import type { BgpAdvertisement, BgpPeerSettings, BgpSettings } from '@spout/model/node-state'
import { parseIp } from '@spout/net'
import { addressText, communityText, peerSymbol, quoted } from './bird-text.ts'

/** Values of a configuration besides the settings. All are our own. */
export interface BirdPlace {
  readonly logFile: string
  readonly fabricInterface: string
  readonly table: number
  readonly listenPort: number
}

/** RFC 8326. */
const GRACEFUL_SHUTDOWN = '(65535,0)'
/** After a crash BIRD waits this long for its peers before it ends its graceful restart (RFC 4724 section 4.1). */
const RESTART_WAIT_S = 10
/** The next scan repairs the loss of a netlink message. */
const SCAN_S = 10
/** Enough for a burst of about ten thousand routes between two reads of the socket. */
const NETLINK_BUFFER = 8_388_608

/**
 * Renders the configuration of the BGP daemon. It announces the routes in the kernel's table, accepts no route, and
 * writes none into the kernel. Pure. @param settings checked by `checkBgpSettings`
 */
export function renderBgp(settings: BgpSettings, place: BirdPlace): string {
  const peers = settings.peers.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return [
    header(settings, place),
    `graceful restart wait ${RESTART_WAIT_S};`,
    '',
    ...(['4', '6'] as const).map((version) => kernelProtocol(version, place)),
    ...peers.map((peer) => bgpProtocol(peer, settings, place)),
    ...(peers.some(({ address }) => address === null) ? [routerAdvertisements(place)] : []),
  ].join('\n')
}

/** @param place where both daemons log */
export const header = ({ routerId }: BgpSettings, { logFile }: Pick<BirdPlace, 'logFile'>): string =>
  [
    `log ${quoted('log file', logFile)} 1048576 ${quoted('log file', `${logFile}.1`)} { remote, warning, error, auth, fatal, bug };`,
    'timeformat protocol iso long ms;',
    `router id ${addressText('routerId', routerId)};`,
    'protocol device { scan time 10; }',
  ].join('\n')

const kernelProtocol = (version: '4' | '6', { table }: BirdPlace): string =>
  [
    `ipv${version} table vips${version};`,
    `protocol kernel kernel${version} {`,
    `  kernel table ${table};`,
    '  learn;',
    `  scan time ${SCAN_S};`,
    `  netlink rx buffer ${NETLINK_BUFFER};`,
    `  ipv${version} { table vips${version}; import all; export none; };`,
    '}',
    '',
  ].join('\n')

function bgpProtocol(peer: BgpPeerSettings, settings: BgpSettings, place: BirdPlace): string {
  const symbol = peerSymbol('peers.id', peer.id)
  return [
    `protocol bgp ${symbol} {`,
    ...sessionEnds(peer, settings, place),
    ...(peer.md5Secret === null ? [] : [`  password ${quoted('md5Secret', peer.md5Secret)};`]),
    `  hold time ${peer.holdTimeS};`,
    `  keepalive time ${peer.keepaliveTimeS};`,
    `  connect retry time ${peer.connectRetryS};`,
    '  connect delay time 1;',
    // After an error BIRD also refuses the peer for so long.
    '  error wait time 1,2;',
    ...gracefulRestart(peer.gracefulRestartS),
    '  long lived graceful restart off;',
    ...peer.families.toSorted().map((family) => channel(family, peer, settings)),
    '}',
    '',
  ].join('\n')
}

function sessionEnds(peer: BgpPeerSettings, settings: BgpSettings, place: BirdPlace): readonly string[] {
  const source = peer.sourceAddress === null ? '' : `${addressText('sourceAddress', peer.sourceAddress)} `
  const local = `  local ${source}port ${place.listenPort} as ${settings.localAs};`
  const far = `port ${peer.port} as ${peer.as}`
  const device = `  interface ${quoted('fabric interface', place.fabricInterface)};`
  if (peer.address === null) {
    // Accepts any neighbour, since a link-local address is not known in advance.
    const name = quoted('peers.id', `${peerSymbol('peers.id', peer.id)}_at`)
    return [local, `  neighbor range fe80::/10 as ${peer.as};`, device, `  dynamic name ${name};`]
  }
  const address = addressText('address', peer.address)
  return [
    local,
    `  neighbor ${address} ${far};`,
    ...(peer.hops > 1 ? [`  multihop ${peer.hops};`] : ['  direct;']),
    ...(isLinkLocal(address) ? [device] : []),
    ...(peer.ttlSecurity === true ? ['  ttl security on;'] : []),
  ]
}

/**
 * Even without it we announce that we support the peer's restarts, so that a session that the peer opens again replaces
 * the old one.
 */
const gracefulRestart = (seconds: number | null): readonly string[] =>
  seconds === null ? ['  graceful restart aware;'] : ['  graceful restart on;', `  graceful restart time ${seconds};`]

function channel(family: 'ipv4' | 'ipv6', peer: BgpPeerSettings, settings: BgpSettings): string {
  const overIpv6 = peer.address === null || parseIp(peer.address).version === 6
  return [
    `  ${family} {`,
    `    table vips${family.slice(3)};`,
    // Received routes are kept as filtered, so that they count against the limit. The session survives too many of
    // them.
    '    import none;',
    '    import keep filtered on;',
    `    receive limit ${peer.prefixLimit} action block;`,
    '    next hop self;',
    // RFC 8950: used if the peer supports it.
    ...(family === 'ipv4' && overIpv6 ? ['    extended next hop on;'] : []),
    ...exportRules(peer, settings).map((line) => `    ${line}`),
    '  };',
  ].join('\n')
}

function exportRules(peer: BgpPeerSettings, { advertisements, drain }: BgpSettings): readonly string[] {
  const said = advertisements
    .filter(({ peerIds }) => peerIds === null || peerIds.includes(peer.id))
    .toSorted((a, b) => a.number - b.number)
  if (drain === 'withdrawn' || said.length === 0) return ['export none;']
  return [
    'export filter {',
    '  case krt_metric {',
    ...said.map((each) => `    ${each.number}: ${[...attributes(each, drain), 'accept;'].join(' ')}`),
    '    else: reject;',
    '  }',
    '};',
  ]
}

function attributes(it: BgpAdvertisement, drain: BgpSettings['drain']): readonly string[] {
  const communities = it.communities.map((community) => communityText('communities', community))
  const localPreference = drain === 'prefer-others' ? 0 : it.localPreference
  return [
    ...(drain === 'prefer-others' ? [`bgp_community.add(${GRACEFUL_SHUTDOWN});`] : []),
    ...communities.map(({ large, text }) => `bgp_${large ? 'large_' : ''}community.add(${text});`),
    ...(localPreference === null ? [] : [`bgp_local_pref = ${localPreference};`]),
    ...(it.med === null ? [] : [`bgp_med = ${it.med};`]),
  ]
}

/** The peer of an unnumbered session learns our link-local address from these. They announce no default router. */
const routerAdvertisements = ({ fabricInterface }: BirdPlace): string =>
  [
    'protocol radv {',
    `  interface ${quoted('fabric interface', fabricInterface)} {`,
    '    min ra interval 3;',
    '    max ra interval 10;',
    '    default lifetime 0;',
    '  };',
    '}',
    '',
  ].join('\n')

const isLinkLocal = (address: string): boolean => {
  const { version, value } = parseIp(address)
  return version === 6 && value >> 118n === 0x3fan
}
