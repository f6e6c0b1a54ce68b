import type { VrrpSettings, VrrpShard } from '@spout/model/node-state'
import { formatIp, parseIp } from '@spout/net'
import { checkVrrpSettings } from './check-settings.ts'
import { configPath, type VrrpFiles } from './vrrp-files.ts'

/**
 * Peer address in a group of one node. Without a peer keepalived would use multicast and accept every speaker on the
 * segment. Adverts to these addresses (RFC 5737, RFC 6666) end at the first router. When a peer joins later, a reload
 * suffices, without a change of state.
 */
const NOBODY = { 4: '192.0.2.1', 6: '100::1' } as const

/**
 * The one address of a shard that keepalived itself holds, since VRRP requires one. It is a link-local host address on
 * the loopback interface, so it is never a source address, is never resolved on a segment, and conflicts with nothing.
 */
const MARKER_BASE = { 4: 0xa9fe_7300n, 6: (0xfe80n << 112n) | 0x7370_6f75_7400n } as const

/** The parts of the configuration that depend on the node. */
export interface KeepalivedPlace {
  readonly fabricInterface: string
  readonly files: VrrpFiles
  readonly moverPath: string
}

/** Renders keepalived.conf. It contains only numbers, canonical addresses and our own paths. @throws VrrpRefused */
export function keepalivedConfig(settings: VrrpSettings, place: KeepalivedPlace): string {
  checkVrrpSettings(settings)
  const { fabricInterface, files, moverPath } = place
  return [
    ...globalDefs(files, configPath(moverPath)),
    ...trackFile('drained', files.drained),
    ...trackFile('unhealthy', files.unhealthy),
    ...trackFile('damped', files.damped, 1),
    ...settings.shards.flatMap((shard) => [
      ...trackFile(`held${shard.number}`, files.held(shard.number)),
      ...instance(settings, shard, fabricInterface),
    ]),
    '',
  ].join('\n')
}

const SCRIPT = '    vrrp_notify_fifo_script'

/**
 * The text without the mover, for `--config-test`. Script security would refuse a program in a user's own directory,
 * and that error hides all others.
 */
export const withoutMover = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith(SCRIPT))
    .join('\n')

/** The marker address of a shard, with its prefix length. */
export function markerAddress(version: 4 | 6, routerId: number): string {
  return `${formatIp({ version, value: MARKER_BASE[version] | BigInt(routerId) })}/${version === 4 ? 32 : 128}`
}

// No vrrp_rt_priority: 2.2.7 sets RLIMIT_RTTIME to 0 at a reload and is killed by it. The process is started with
// real-time priority instead. No vrrp_strict: it forbids unicast peers. Addresses in adverts are checked because
// vrrp_skip_check_adv_addr is not set. When two masters meet, the loser sends one more advert, and the winner announces
// its addresses again.
const globalDefs = (files: VrrpFiles, moverPath: string): readonly string[] => [
  'global_defs {',
  // Without it keepalived resolves its host's name at every start and test, which takes 5 s without a DNS server.
  '    router_id spout',
  '    process_names',
  '    script_user root',
  '    dynamic_interfaces',
  '    vrrp_version 3',
  '    vrrp_no_swap',
  '    max_auto_priority -1',
  '    vrrp_higher_prio_send_advert true',
  '    vrrp_garp_master_repeat 1',
  '    vrrp_garp_master_delay 0',
  `    vrrp_notify_fifo ${files.fifo}`,
  `${SCRIPT} "${moverPath} ${files.directory}"`,
  '}',
]

/**
 * Weight 0: a value other than 0 in the file means fault, which is announced with an advert of priority 0. Weight 1:
 * the value is added to the priority.
 */
const trackFile = (name: string, path: string, weight: 0 | 1 = 0): readonly string[] => [
  `track_file ${name} {`,
  `    file "${path}"`,
  `    weight ${weight}`,
  '}',
]

function instance(settings: VrrpSettings, shard: VrrpShard, fabricInterface: string): readonly string[] {
  const { source, peers, advertMs, missedAdverts } = shard.apart ?? settings
  const { version } = parseIp(source)
  const alone = peers.length === 0
  const scope = version === 4 ? ' scope host' : ''
  const drained = shard.apart === undefined ? ['drained'] : []
  return [
    `vrrp_instance shard${shard.number} {`,
    '    state BACKUP',
    '    nopreempt',
    `    interface ${fabricInterface}`,
    `    virtual_router_id ${shard.routerId}`,
    `    priority ${shard.priority}`,
    '    version 3',
    `    advert_int ${(advertMs / 1000).toFixed(2)}`,
    `    down_timer_adverts ${missedAdverts}`,
    `    unicast_src_ip ${source}`,
    '    track_src_ip',
    '    check_unicast_src',
    `    unicast_ttl ${alone ? 1 : 255}`,
    '    unicast_peer {',
    ...(alone ? [NOBODY[version]] : peers).map((peer) => `        ${peer} min_ttl 255 max_ttl 255`),
    '    }',
    '    virtual_ipaddress {',
    `        ${markerAddress(version, shard.routerId)} dev lo${scope} no_track`,
    '    }',
    '    track_file {',
    ...[...drained, 'unhealthy', 'damped', `held${shard.number}`].map((name) => `        ${name}`),
    '    }',
    '}',
  ]
}
