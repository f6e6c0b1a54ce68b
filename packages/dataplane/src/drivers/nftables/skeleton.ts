import type { Transport } from '@spout/model/protocols'
import { SEGMENT, UPLINK } from '../../domain/domain-names.ts'
import { ANSWERED_MARK, ASK_BACK_MARK } from '../../domain/guard.ts'
import { chain, type WholeTable, wholeTable } from '../../nft/whole-table.ts'
import { FORGET_NETWORK, networkChain, networkChainName } from './client-networks.ts'
import { declareKept, keptChain, keptChains } from './kept-clients.ts'
import {
  CLASS_MASK,
  HASH_CLASSES,
  type HashClass,
  NETWORK_MASK,
  POOL_MASK,
  SERVICE_FLAGS,
  SPECIAL_MASK,
} from './pool-mark.ts'
import { redirectChains } from './proxy-redirect.ts'
import { TRANSLATING_SETS } from './sets.ts'
import { declareSets, hex, SPOUT_TABLE, serviceKey, slotOf } from './skeleton-text.ts'

/**
 * The chains of the table, which are the same in every domain. Nat chains see only the first packet of a flow. What
 * they do not translate is local to the domain, where the guard refuses it.
 */
function body(): readonly string[] {
  return [
    ...declareSets(TRANSLATING_SETS),
    ...declareKept(),
    `  ct timeout ${AT_ONCE} { protocol tcp; policy = { syn_sent : 0 }; }`,
    ...redirectChains('front', 'checked'),
    ...chain('prerouting', 'type nat hook prerouting priority dstnat; policy accept;', [
      'meta mark set 0',
      usual(4),
      usual(6),
      `${IS_USUAL} accept`,
      'meta nfproto ipv4 goto special4',
      'meta nfproto ipv6 goto special6',
    ]),
    ...chain('special4', null, special(4)),
    ...chain('special6', null, special(6)),
    ...networkChain(4),
    ...networkChain(6),
    ...keptChains(4),
    ...keptChains(6),
    // The socket takes the packet anyway. A packet of a balanced flow is refused, since it was not translated.
    ...chain('full', null, [`${FLAGGED.proxied} reject with tcp reset`]),
    ...chain('postrouting', 'type nat hook postrouting priority srcnat; policy accept;', [
      // Flows that began with a request. Only a flow that began with a reply gets its source here.
      'ct status dnat accept',
      replyFirst(4),
      replyFirst(6),
    ]),
    ...counted(),
    ...unheardFins(),
  ]
}

/**
 * Translates a reply that arrives before any request (the first packet after a takeover) to its VIP, by the reverse
 * map. The conntrack entry of a TCP flow expires at once: for an entry that is not yet in its table, the kernel uses
 * the first value of a timeout policy, whatever the state. So no conntrack entry that began with a member stays, and
 * the client's next packet creates one in the right direction. If one stayed, for 300 s or five days, a SYN of the
 * client from the same port would match it in reply direction. Conntrack calls such a SYN invalid and translates
 * nothing: no later rule could repair that, and every SYN would pay for an earlier one. Until the client's packet
 * arrives, each reply is translated as if it were the first. UDP has no such state, so its entries stay.
 */
function replyFirst(version: 4 | 6): string {
  const ip = version === 4 ? 'ip' : 'ip6'
  const { address, port } = answer(version)
  const translate = `meta l4proto { tcp, udp, sctp } snat ${ip} to ${address} : ${port}`
  return `${OUTWARDS} ct timeout set "${AT_ONCE}" ${whoseAnswer(version)} ${translate}`
}

const AT_ONCE = 'at-once'
const OUTWARDS = `iifname "${SEGMENT}" oifname "${UPLINK}"`

/** Marks a reply with the `answerMark` of its member. The rule ends for any other packet. */
const whoseAnswer = (version: 4 | 6): string =>
  `meta mark set ${version === 4 ? 'ip' : 'ip6'} saddr . meta l4proto . th sport map @reverse${version}`

const answer = (version: 4 | 6) => ({
  address: `meta mark map @answer${version}`,
  port: `meta mark map @answerPort${version}`,
})

/**
 * Translates a member's last packet of a connection that is unknown here. Conntrack creates no flow for it and calls it
 * invalid, so no nat chain sees it. The rules set its source to the VIP, and the kernel corrects the checksums. The
 * guard passes packets with this mark. A SYN+ACK, which is invalid too, is not translated: the node that saw the SYN
 * but no response would refuse the client's next packet. Dropping it costs the client a second.
 */
const LAST_WORD = `tcp flags & (fin | syn | rst | ack) { fin | ack, rst, rst | ack }`

function answerByHand(version: 4 | 6): string {
  const ip = version === 4 ? 'ip' : 'ip6'
  const { address, port } = answer(version)
  const write = `${ip} saddr set ${address} tcp sport set ${port}`
  return `${whoseAnswer(version)} ${write} meta mark set ${hex(ANSWERED_MARK)}`
}

/**
 * Marks a client's FIN of a flow that is unknown here. Rules cannot translate it, since a slot's member is one value of
 * address and port, which only nat can split. The guard changes the kernel's response so that it brings the client's
 * next packet. Proxied connections have their sockets here; their packets are untracked or have a mark.
 */
const unheardFins = (): readonly string[] => [
  ...chain('delivered', 'type filter hook input priority filter; policy accept;', [
    `ct state invalid meta mark 0 iifname "${UPLINK}" tcp flags & (fin | syn | rst | ack) == (fin | ack) goto unheard`,
  ]),
  ...chain('unheard', null, [
    ...([4, 6] as const).map((version) => `meta mark set ${serviceKey(version)} map @service${version}`),
    'meta mark 0 accept',
    `${FLAGGED.proxied} meta mark set 0 accept`,
    `meta mark set ${hex(ASK_BACK_MARK)}`,
  ]),
]

/** For services without flags in the first hash class, and for packets without a mark. */
const IS_USUAL = `meta mark & 0x${SPECIAL_MASK.toString(16)} == 0`
const USUAL_CLASS = HASH_CLASSES.find(({ bits }) => bits === 0)!

const hasFlag = (flag: number): string => `meta mark & ${hex(flag)} != 0`
const FLAGGED = {
  proxied: hasFlag(SERVICE_FLAGS.proxied),
  limited: hasFlag(SERVICE_FLAGS.limited),
  restricted: hasFlag(SERVICE_FLAGS.restricted),
  kept: hasFlag(SERVICE_FLAGS.kept),
} as const

/**
 * Counts packets of balanced flows; packets of the proxy are not forwarded and do not pass this chain. The flow has its
 * VIP as the original destination, whatever was translated. A UDP flow that began with a reply (its requests passed
 * another node) has the VIP at its other end. Such a TCP flow is in no table and is counted from the client's next
 * packet on. Every packet pays for each expression, so the common case comes first, and the family is not matched
 * separately, since the key contains the address. nft knows the type of `proto-dst` only after a match of the protocol.
 */
function counted(): readonly string[] {
  return [
    ...chain('counted', 'type filter hook forward priority filter - 10; policy accept;', [
      'ct direction reply goto counted-replies',
      ...counting('original', 'received', ['tcp', 'udp']),
      ...counting('reply', 'sent', ['udp']),
      ...counting('original', 'received', ['sctp']),
      `ct state invalid ${OUTWARDS} ${LAST_WORD} goto unknown`,
    ]),
    ...chain('unknown', null, [answerByHand(4), answerByHand(6)]),
    ...chain('counted-replies', null, [
      ...counting('original', 'sent', ['tcp', 'udp']),
      ...counting('reply', 'received', ['udp']),
      ...counting('original', 'sent', ['sctp']),
    ]),
  ]
}

/** Rules that count a packet for the VIP at this end of the flow. */
const counting = (
  end: 'original' | 'reply',
  set: 'received' | 'sent',
  transports: readonly Transport[],
): readonly string[] =>
  transports.flatMap((transport) =>
    ([4, 6] as const).map((version) => {
      const ip = version === 4 ? 'ip' : 'ip6'
      const service = `ct ${end} ${ip} daddr . meta l4proto . ct ${end} proto-dst`
      return `meta l4proto ${transport} ${service} @${set}${version} accept`
    }),
  )

/**
 * The path of a new flow to an ordinary service is one rule, since each further rule shows in its connect time. The
 * rule ends if a lookup finds nothing or the service has flags; the mark stays.
 */
function usual(version: 4 | 6): string {
  const service = serviceKey(version)
  const lookup = `meta mark set ${service} map @service${version}`
  return `${lookup} ${IS_USUAL} ${service} @opened${version} ${balance(version, USUAL_CLASS)}`
}

/** The path of services with flags or another hash class. The mark is set already. */
function special(version: 4 | 6): readonly string[] {
  const ip = version === 4 ? 'ip' : 'ip6'
  const service = serviceKey(version)
  return [
    // Connections that were open when a source was removed from the list, or a limit was set.
    `${FLAGGED.proxied} tcp flags & syn == 0 accept`,
    `${FLAGGED.restricted} ${service} . ${ip} saddr != @allowed${version} drop`,
    `${FLAGGED.limited} ct mark set ${service} map @limited${version} ct mark @limits goto full`,
    `${FLAGGED.proxied} accept`,
    `${service} @opened${version}`,
    `${hasFlag(NETWORK_MASK)} jump ${networkChainName(version)}`,
    `${FLAGGED.kept} goto ${keptChain(version)}`,
    `meta mark set meta mark & ${hex(POOL_MASK)}`,
    ...HASH_CLASSES.map((each) => `meta mark & ${hex(CLASS_MASK)} == ${hex(each.bits)} ${balance(version, each)}`),
  ]
}

/** Finds the member by the pool's mark; the rule ends for a slot without a member. */
function balance(version: 4 | 6, hashClass: HashClass): string {
  const forget = hashClass.over === 'network' ? ` ${FORGET_NETWORK}` : ''
  const slot = `ct mark set ${slotOf(version, hashClass)}${forget}`
  const to = `dnat ${version === 4 ? 'ip' : 'ip6'} to meta mark . ct mark map @member${version}`
  return `${slot} meta l4proto { tcp, udp, sctp } ${to}`
}

/** The table `inet spout` of a domain. */
export const renderSkeleton = (): WholeTable => wholeTable('inet', SPOUT_TABLE, body())
