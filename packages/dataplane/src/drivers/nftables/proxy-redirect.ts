import { chain, type WholeTable, wholeTable } from '../../nft/whole-table.ts'
import { REDIRECT_MARKS } from './pool-mark.ts'
import { PROXYING_SETS, type SetName } from './sets.ts'
import { declareSets, REDIRECT_TABLE, serviceKey } from './skeleton-text.ts'

/**
 * Chains that redirect packets of proxied services to the proxy's socket (TPROXY), without translation or tracking.
 * Flows of a service with a limit or admitted sources are tracked; their packets are marked, so that the guard recognizes
 * the responses. If the socket does not exist, the rule ends and the guard refuses the flow.
 *
 * `tproxy` gets the first packet of a flow, and packets without a socket, as after a SYN cookie. The kernel finds the
 * socket of other packets itself and uses its cached route. A redirect would route each packet anew, which made the proxy
 * 3 % slower.
 */
export function redirectChains(...kinds: readonly (keyof typeof REDIRECT_MARKS)[]): readonly string[] {
  const redirect = (version: 4 | 6): readonly string[] => {
    const [ip, loopback] = version === 4 ? ['ip', '127.0.0.1'] : ['ip6', '[::1]']
    const to = (map: SetName) => `tproxy ${ip} to ${loopback}:${serviceKey(version)} map @${map}`
    return [
      'tcp flags & (syn | ack) != syn socket transparent 1 goto connected',
      ...kinds.map((kind) => {
        const which = kind === 'front' ? `meta mark ${REDIRECT_MARKS.front} ` : ''
        return `${which}meta l4proto tcp ${to(`${kind}${version}`)} ${kind === 'front' ? 'notrack ' : ''}accept`
      }),
    ]
  }
  const select = (version: 4 | 6) => `meta mark set ${serviceKey(version)} map @proxied${version} goto door${version}`
  return [
    ...chain('doors', 'type filter hook prerouting priority raw; policy accept;', [select(4), select(6)]),
    ...chain('connected', null, [`meta mark ${REDIRECT_MARKS.front} notrack`, 'accept']),
    ...chain('door4', null, redirect(4)),
    ...chain('door6', null, redirect(6)),
  ]
}

/** Renders the table `inet spout-doors` of a domain without tracking, without its elements. */
export const renderProxyRedirect = (): WholeTable =>
  wholeTable('inet', REDIRECT_TABLE, [...declareSets(PROXYING_SETS), ...redirectChains('front')])
