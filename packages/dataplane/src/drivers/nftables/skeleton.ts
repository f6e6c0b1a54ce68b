import type { Transport } from '@spout/model/protocols'
import { SEGMENT, UPLINK } from '../../domain/domain-names.ts'
import { ANSWERED_MARK, ASK_BACK_MARK } from '../../domain/guard.ts'
import { chain, type WholeTable, wholeTable } from '../../nft/whole-table.ts'
import { CLASS_MASK, HASH_CLASSES, type HashClass, POOL_MASK, SERVICE_FLAGS, SPECIAL_MASK } from './pool-mark.ts'
import { redirectChains } from './proxy-redirect.ts'
import { TRANSLATING_SETS } from './sets.ts'
import { declareSets, hex, SPOUT_TABLE, serviceKey, slotOf } from './skeleton-text.ts'

/**
 * The table without its elements: the same in every domain, whatever it serves. Nat chains see the first packet of a
 * flow alone; what they do not translate is local to the domain and refused there by its guard.
 */
function body(): readonly string[] {
  return [
    ...declareSets(TRANSLATING_SETS),
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
    // Its socket has the packet already; one that is balanced is refused for not being translated.
    ...chain('full', null, [`${FLAGGED.proxied} reject with tcp reset`]),
    ...chain('postrouting', 'type nat hook postrouting priority srcnat; policy accept;', [
      // Flows that began with a request: only one that began with a reply gets its source here.
      'ct status dnat accept',
      replyFirst(4),
      replyFirst(6),
    ]),
    ...counted(),
    ...unheardFins(),
  ]
}

/**
 * A reply that comes before any request (the first packet after a takeover) gets its VIP by the reverse map, and the
 * entry that it makes for a TCP flow ends at once: the kernel takes the first value of a policy for an entry not yet in
 * its table, whatever state that is in. So no entry is ever found that began with a member, and the client's next packet
 * begins one the right way round. If one stayed, for 300 s or five days, a SYN of the client from the same port would
 * meet it in reply direction, where conntrack calls a SYN invalid, looks no further and translates nothing: no later
 * rule could save it, and every earlier one would be paid by each SYN. Until the client's packet comes, each reply is
 * translated as if it were the first. UDP has no such state: its entries stay.
 */
function replyFirst(version: 4 | 6): string {
  const ip = version === 4 ? 'ip' : 'ip6'
  const { address, port } = answer(version)
  const translate = `meta l4proto { tcp, udp, sctp } snat ${ip} to ${address} : ${port}`
  return `${OUTWARDS} ct timeout set "${AT_ONCE}" ${whoseAnswer(version)} ${translate}`
}

const AT_ONCE = 'at-once'
const OUTWARDS = `iifname "${SEGMENT}" oifname "${UPLINK}"`

/** Marks a reply with whose answer it is. Ends the rule for what no member says. */
const whoseAnswer = (version: 4 | 6): string =>
  `meta mark set ${version === 4 ? 'ip' : 'ip6'} saddr . meta l4proto . th sport map @reverse${version}`

const answer = (version: 4 | 6) => ({
  address: `meta mark map @answer${version}`,
  port: `meta mark map @answerPort${version}`,
})

/**
 * A member's last word on a connection that this node does not know. Conntrack begins no flow by it and calls it invalid,
 * so no nat chain sees it. It gets its VIP by hand; the kernel mends the checksums. The guard lets out what is marked as
 * done. Only what nothing counted comes here. Not so a SYN+ACK, which is invalid too: the node that saw the SYN, and saw
 * no answer, would refuse the client's next packet; dropped, it costs the client a second.
 */
const LAST_WORD = `tcp flags & (fin | syn | rst | ack) { fin | ack, rst, rst | ack }`

function answerByHand(version: 4 | 6): string {
  const ip = version === 4 ? 'ip' : 'ip6'
  const { address, port } = answer(version)
  const write = `${ip} saddr set ${address} tcp sport set ${port}`
  return `${whoseAnswer(version)} ${write} meta mark set ${hex(ANSWERED_MARK)}`
}

/**
 * A client's FIN of a flow that this node does not know. To translate it by hand is not to be had: a slot's member is one
 * value of address and port, which only nat can take apart. It is marked, and the guard makes of the kernel's answer one
 * that brings the client's next packet. What the proxy carries has its sockets here; its packets are not tracked, or
 * bear a mark.
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

/** Without a flag, and hashed in the first class: so is a packet that no lookup has given a mark. */
const IS_USUAL = `meta mark & 0x${SPECIAL_MASK.toString(16)} == 0`
const USUAL_CLASS = HASH_CLASSES.find(({ bits }) => bits === 0)!

const hasFlag = (flag: number): string => `meta mark & ${hex(flag)} != 0`
const FLAGGED = {
  proxied: hasFlag(SERVICE_FLAGS.proxied),
  limited: hasFlag(SERVICE_FLAGS.limited),
  restricted: hasFlag(SERVICE_FLAGS.restricted),
} as const

/**
 * Packets of balanced flows alone: what goes to or comes from the proxy is not forwarded, and costs nothing here. The
 * flow tells its VIP whatever was translated already; a UDP flow that began with a reply (its requests went through
 * another node) has it at its other end. A TCP flow that did is in no table, and is counted from the client's next packet
 * on. Every packet pays for each expression it meets: the common case comes first, and what the key compares anyway (the
 * family, by the address) is not matched before. nft knows the type of `proto-dst` only behind a match of the protocol.
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

/** Rules that count a packet at the VIP which the flow has at this end. */
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
 * The whole way of a new flow to a usual service is one rule: what it meets beside shows in its connect time. A lookup
 * that misses ends the rule, and so does the mark of a service that is not a usual one; the mark stays.
 */
function usual(version: 4 | 6): string {
  const service = serviceKey(version)
  const lookup = `meta mark set ${service} map @service${version}`
  return `${lookup} ${IS_USUAL} ${service} @opened${version} ${balance(version, USUAL_CLASS)}`
}

/** Everything that a service may have. Its mark is set already. */
function special(version: 4 | 6): readonly string[] {
  const ip = version === 4 ? 'ip' : 'ip6'
  const service = serviceKey(version)
  return [
    // Open already when a source was taken off the list, or a limit set.
    `${FLAGGED.proxied} tcp flags & syn == 0 accept`,
    `${FLAGGED.restricted} ${service} . ${ip} saddr != @allowed${version} drop`,
    `${FLAGGED.limited} ct mark set ${service} map @limited${version} ct mark @limits goto full`,
    `${FLAGGED.proxied} accept`,
    `${service} @opened${version}`,
    `meta mark set meta mark & ${hex(POOL_MASK)}`,
    ...HASH_CLASSES.map((each) => `meta mark & ${hex(CLASS_MASK)} == ${hex(each.bits)} ${balance(version, each)}`),
  ]
}

/** From the pool's mark to the member; a slot without one ends the rule. */
function balance(version: 4 | 6, hashClass: HashClass): string {
  const slot = `ct mark set ${slotOf(version, hashClass)}`
  const to = `dnat ${version === 4 ? 'ip' : 'ip6'} to meta mark . ct mark map @member${version}`
  return `${slot} meta l4proto { tcp, udp, sctp } ${to}`
}

/** The table `inet spout` of a domain. */
export const renderSkeleton = (): WholeTable => wholeTable('inet', SPOUT_TABLE, body())
