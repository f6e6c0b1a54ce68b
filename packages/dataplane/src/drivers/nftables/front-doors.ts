import { chain, type WholeTable, wholeTable } from '../../nft/whole-table.ts'
import { DOOR_MARKS } from './pool-mark.ts'
import { PROXYING_SETS, type SetName } from './sets.ts'
import { DOORS_TABLE, declareSets, serviceKey } from './skeleton-text.ts'

/**
 * The proxy's front door: a packet for a proxied service is given to the socket that the flow has, or to the one that
 * listens for the service. Nothing is translated, so nothing need be tracked; a service that counts or checks its flows
 * has them tracked, for which their packets are marked: so the guard knows the answers. A rule whose socket is not there
 * ends, and the flow is refused like any that no rule took.
 *
 * Packets of a connection find its socket by themselves, and with it the route that it remembers: handed over, each would
 * be routed anew, which made the proxy 3 % slower. All that is left for `tproxy` is a flow's first packet and what has no
 * socket yet, as after a SYN cookie.
 */
export function doors(...kinds: readonly (keyof typeof DOOR_MARKS)[]): readonly string[] {
  const door = (version: 4 | 6): readonly string[] => {
    const [ip, loopback] = version === 4 ? ['ip', '127.0.0.1'] : ['ip6', '[::1]']
    const to = (map: SetName) => `tproxy ${ip} to ${loopback}:${serviceKey(version)} map @${map}`
    return [
      'tcp flags & (syn | ack) != syn socket transparent 1 goto connected',
      ...kinds.map((kind) => {
        const which = kind === 'front' ? `meta mark ${DOOR_MARKS.front} ` : ''
        return `${which}meta l4proto tcp ${to(`${kind}${version}`)} ${kind === 'front' ? 'notrack ' : ''}accept`
      }),
    ]
  }
  const entrance = (version: 4 | 6) => `meta mark set ${serviceKey(version)} map @proxied${version} goto door${version}`
  return [
    ...chain('doors', 'type filter hook prerouting priority raw; policy accept;', [entrance(4), entrance(6)]),
    ...chain('connected', null, [`meta mark ${DOOR_MARKS.front} notrack`, 'accept']),
    ...chain('door4', null, door(4)),
    ...chain('door6', null, door(6)),
  ]
}

/** Without its elements, the table `inet spout-doors` of a domain that is not tracked. */
export const renderFrontDoors = (): WholeTable =>
  wholeTable('inet', DOORS_TABLE, [...declareSets(PROXYING_SETS), ...doors('front')])
