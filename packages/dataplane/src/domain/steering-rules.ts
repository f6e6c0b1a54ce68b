import { LOCAL_DOMAIN } from '@spout/model/local-entries'
import { PROTOCOL_NUMBERS } from '@spout/model/protocols'
import { parseIp } from '@spout/net'
import type { NativeHelper } from '@spout/sys'
import { chain, loadTable, type WholeTable, wholeTable } from '../nft/whole-table.ts'
import { DEFAULT_STEERING_TABLE, type DomainConfig, rootNetns } from './domain-config.ts'
import { domainNames, hostLinkPrefix } from './domain-names.ts'
import { HOSTED_MARK } from './member-hosts.ts'
import type { Run } from './run.ts'

/** Before the local table, which moves behind these rules: a VIP that root answers ARP for is local to root. */
const STEERING_PREFERENCE = 10
/** For the addresses of `DomainConfig.local`, wherever their packets come from. */
const LOCAL_ADDRESS_PREFERENCE = 9
const LOCAL_PREFERENCE = 100

/** Tables and protocols are given by number. Names depend on files in /etc, which a small system may lack. */
const LOCAL_TABLE = '255'

/** Never a rule without a protocol: it would catch the ARP request for the VIP, which then gets no answer. */
const STEERED = { 4: ['tcp', 'udp', 'sctp', 'icmp'], 6: ['tcp', 'udp', 'sctp'] } as const

/** A rule as `ip -N -j` shows it. */
interface Rule {
  readonly priority: number
  readonly iif?: string
  /** Such as `ipproto-6`. */
  readonly ipproto?: string
  readonly table?: string
  readonly dst?: string
}

/**
 * Prepares the root namespace: forwarding, the rules that steer VIPs into domains, and a table that lets domains reach
 * only the fabric. Idempotent; resolves with the number of changes.
 */
export async function prepareRoot(run: Run, helper: NativeHelper, config: DomainConfig): Promise<number> {
  const sysctls = await setForwarding(run, config)
  const rules4 = await steer(run, config, 4)
  const rules6 = await steer(run, config, 6)
  return sysctls + rules4 + rules6 + (await loadRootGuard(helper, config))
}

/**
 * Removes the rules that steer what arrives at the fabric interface, which the node has left. The interface may be gone.
 * Idempotent; resolves with the number of changes.
 */
export async function removeSteering(run: Run, config: DomainConfig): Promise<number> {
  let changes = 0
  for (const version of [4, 6] as const) {
    const { ip, rules, table } = await rulesOf(run, config, version)
    const lines = protocolsOf(version)
      .filter((protocol) => rules.some((rule) => isSteering(rule, config, table, protocol)))
      .map((protocol) => `rule delete ${steeringRule(config, table, protocol)}`)
    if (lines.length > 0) await run('ip', [...ip, '-batch', '-'], lines.join('\n'))
    changes += lines.length
  }
  return changes
}

const protocolsOf = (version: 4 | 6): readonly number[] => STEERED[version].map((name) => PROTOCOL_NUMBERS[name])

const steeringRule = ({ fabricInterface }: DomainConfig, table: string, protocol: number): string =>
  `preference ${STEERING_PREFERENCE} iif ${fabricInterface} ipproto ${protocol} lookup ${table}`

const isSteering = (rule: Rule, { fabricInterface }: DomainConfig, table: string, protocol: number): boolean =>
  rule.priority === STEERING_PREFERENCE &&
  rule.iif === fabricInterface &&
  rule.ipproto === `ipproto-${protocol}` &&
  rule.table === table

/** The rules of a family, the words before a request about them, and the number of the routing table for VIPs. */
async function rulesOf(
  run: Run,
  { rootNamespace, steeringTable = DEFAULT_STEERING_TABLE }: DomainConfig,
  version: 4 | 6,
): Promise<{ readonly ip: readonly string[]; readonly rules: readonly Rule[]; readonly table: string }> {
  const ip = [...(rootNamespace ? ['-n', rootNamespace] : []), version === 4 ? '-4' : '-6']
  const rules = JSON.parse(await run('ip', [...ip, '-N', '-j', 'rule', 'show'])) as readonly Rule[]
  return { ip, rules, table: String(steeringTable) }
}

async function steer(run: Run, config: DomainConfig, version: 4 | 6): Promise<number> {
  const { ip, rules, table } = await rulesOf(run, config, version)
  const locals = rules.filter((rule) => rule.table === LOCAL_TABLE).map((rule) => rule.priority)
  const lines: string[] = []
  // Add the new rule before the old one is removed; otherwise the node would lose its own addresses for a moment.
  if (!locals.some((priority) => priority > STEERING_PREFERENCE))
    lines.push(`rule add preference ${LOCAL_PREFERENCE} lookup local`)
  for (const priority of locals)
    if (priority <= STEERING_PREFERENCE) lines.push(`rule delete preference ${priority} lookup local`)
  for (const protocol of protocolsOf(version))
    if (!rules.some((rule) => isSteering(rule, config, table, protocol)))
      lines.push(`rule add ${steeringRule(config, table, protocol)}`)
  lines.push(...localAddressRules(rules, config, version, table))
  if (lines.length > 0) await run('ip', [...ip, '-batch', '-'], lines.join('\n'))
  return lines.length
}

/**
 * The node's own programs and its pods reach the addresses of its own settings through its own domain, whoever
 * announces them. Without such settings the rules are left alone: they may be another agent's.
 */
function localAddressRules(rules: readonly Rule[], config: DomainConfig, version: 4 | 6, table: string): string[] {
  if (config.local === undefined) return []
  const wanted = new Set(config.local.addresses.filter((address) => parseIp(address).version === version))
  const lines: string[] = []
  for (const { priority, dst, table: of } of rules) {
    if (priority !== LOCAL_ADDRESS_PREFERENCE || dst === undefined || of !== table) continue
    if (!wanted.delete(dst))
      lines.push(
        `rule delete preference ${LOCAL_ADDRESS_PREFERENCE} to ${dst} ipproto ${PROTOCOL_NUMBERS.tcp} lookup ${table}`,
      )
  }
  for (const address of wanted)
    lines.push(
      `rule add preference ${LOCAL_ADDRESS_PREFERENCE} to ${address} ipproto ${PROTOCOL_NUMBERS.tcp} lookup ${table}`,
    )
  return lines
}

async function setForwarding(run: Run, config: DomainConfig): Promise<number> {
  const exec = config.rootNamespace ? ['ip', 'netns', 'exec', config.rootNamespace, 'sysctl'] : ['sysctl']
  const sysctl = (args: readonly string[]): Promise<string> => run(exec[0]!, [...exec.slice(1), ...args])
  const acceptRa = `net.ipv6.conf.${config.fabricInterface.replaceAll('.', '/')}.accept_ra`
  const names = ['net.ipv4.ip_forward', 'net.ipv6.conf.all.forwarding', acceptRa]
  // A missing interface has no such name, and is reported by those who announce there.
  const [ipv4, ipv6, ra] = (await sysctl(['-n', '-e', ...names])).trim().split(/\s+/)
  const wanted: string[] = []
  // Forwarding makes a host ignore router advertisements. A node that got its default route from one must keep it.
  if (ipv6 !== '1' && ra === '1') wanted.push(`${acceptRa}=2`)
  if (ipv4 !== '1') wanted.push('net.ipv4.ip_forward=1')
  if (ipv6 !== '1') wanted.push('net.ipv6.conf.all.forwarding=1')
  if (wanted.length > 0) await sysctl(['-q', '-w', ...wanted])
  return wanted.length
}

/** Second check: even a domain whose guard failed reaches neither the node itself nor another domain. */
export function renderRootGuard(config: DomainConfig): WholeTable {
  const uplinks = `iifname "${config.instance}u*"`
  const hosted = hostSegmentRules(config)
  const local = localRules(config)
  return wholeTable('inet', `spout-${config.instance}`, [
    ...chain('input', 'type filter hook input priority filter; policy accept;', [
      ...local.input,
      `${uplinks} icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept`,
      `${uplinks} drop`,
      ...hosted.input,
    ]),
    ...chain('forward', 'type filter hook forward priority filter; policy accept;', [
      ...local.forward,
      `${uplinks} oifname != "${config.fabricInterface}" drop`,
      ...hosted.forward,
    ]),
    ...hosted.chains,
  ])
}

/**
 * Rules for the domain of the node's own settings. Answers to the node's own programs and pods come out of its uplink,
 * and requests to members on this node out of its segment.
 */
function localRules({ local, instance }: DomainConfig): Readonly<Record<'input' | 'forward', readonly string[]>> {
  if (local === undefined) return { input: [], forward: [] }
  const { rootLink } = domainNames({ instance }, LOCAL_DOMAIN)
  const answers = `iifname "${rootLink}" ct direction reply ct state established,related accept`
  const segment = `iifname "${hostLinkPrefix({ instance })}${LOCAL_DOMAIN}"`
  return {
    input: [answers, `${segment} tcp dport { ${local.memberPorts.join(', ')} } accept`],
    forward: [answers],
  }
}

/**
 * Rules for segments that are reached through the node's own routes. Members see the address that the node always uses,
 * so that responses return over any network. Other incoming packets are dropped, and the node's own sockets are not
 * members.
 */
function hostSegmentRules(config: DomainConfig): Readonly<Record<'input' | 'forward' | 'chains', readonly string[]>> {
  if ((config.hostSegments ?? []).length === 0 && config.local === undefined)
    return { input: [], forward: [], chains: [] }
  const links = `"${hostLinkPrefix(config)}*"`
  return {
    input: [`iifname ${links} icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept`, `iifname ${links} drop`],
    forward: [`oifname ${links} ct state established,related accept`, `oifname ${links} drop`],
    chains: [
      ...untrackedAnswers(config),
      ...chain('hosted', 'type nat hook postrouting priority srcnat; policy accept;', [
        // Return path node: the member is on this node, and answers come back by the mark of their connection.
        `iifname ${links} ct mark & ${hex(HOSTED_MARK.mask)} == ${hex(HOSTED_MARK.tag)} accept`,
        `iifname ${links} masquerade`,
      ]),
    ],
  }
}

/**
 * Nodes with host segments or own services may be nodes of a cluster, whose kube-proxy has rules and tracked connections
 * of the same VIPs. Root never saw the requests, which the ingress hook takes, so it would call the answers invalid, and
 * kube-proxy may drop these. When kube-proxy had a connection from the same port of the client a moment ago, root would
 * give the answers another source port.
 *
 * Requests of the node's own programs and pods pass root on their way to own services, so it tracks the answers to them.
 * These do not leave by the fabric.
 */
function untrackedAnswers({ instance, local, fabricInterface }: DomainConfig): readonly string[] {
  const own = `iifname "${domainNames({ instance }, LOCAL_DOMAIN).rootLink}" fib daddr oifname != "${fabricInterface}"`
  const hook = 'type filter hook prerouting priority raw; policy accept;'
  return chain('answers', hook, [...(local === undefined ? [] : [`${own} accept`]), `iifname "${instance}u*" notrack`])
}

const hex = (value: number): string => `0x${value.toString(16)}`

const loadRootGuard = async (helper: NativeHelper, config: DomainConfig): Promise<number> =>
  (await loadTable(helper, rootNetns(config), renderRootGuard(config))) ? 1 : 0
