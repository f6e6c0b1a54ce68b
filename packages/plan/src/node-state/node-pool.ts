import {
  CHECK_SETTINGS_FIELDS,
  type CheckSettingsField,
  type CheckSpec,
  type ClientNetworks,
  DEFAULT_DRAIN_MS,
  type LoadBalancer,
  MOST_CHECK_TIMEOUT_MS,
  type NodeMember,
  type NodePool,
  type PassiveCheck,
  type PassiveSpec,
  type Placement,
  type Pool,
  sameJson,
} from '@spout/model'
import { poolMode } from '../resolve/protocols.ts'
import { placeMembers } from '../slots/edit-slots.ts'
import { type CertificateOf, planPoolTls } from './node-tls.ts'

export type PlacedPool = Placement['pools'][number]

/** A pool as its placement is stored, and as nodes get it. `node` is null if it names a certificate that was deleted. */
export interface PlannedPool {
  readonly placed: PlacedPool
  readonly node: NodePool | null
}

/**
 * Plans a pool. Disabled members are left out.
 * @param previous is `placed` of the result, as the same object, if nothing differs
 * @param nodesHad the members in the entry that nodes were last sent. Unchanged ones are reused as the same objects
 */
export function planPool(
  loadBalancer: Pick<LoadBalancer, 'listeners'>,
  pool: Pool,
  number: number,
  previous: PlacedPool | null,
  certificateOf: CertificateOf,
  nodesHad: NodePool['members'] = [],
): PlannedPool {
  const mode = poolMode(loadBalancer, pool)
  const enabled = pool.members.filter((member) => member.enabled)
  const assignment = placeMembers(previous, enabled)
  const slots = mode === 'l4' ? assignment.slots : null
  const tls = planPoolTls(pool, mode, certificateOf)
  const members = assignment.members.map((member) => member?.id ?? null)
  const decided = { poolId: pool.id, number, members, slots }
  const placed = previous !== null && sameJson(previous, decided) ? previous : decided
  if (tls === null) return { placed, node: null }
  const node: NodePool = {
    id: pool.id,
    number,
    mode,
    algorithm: pool.algorithm,
    sourceAffinity: pool.persistence?.type === 'source-ip' || pool.algorithm === 'source-ip',
    ...keptFor(pool),
    ...poolOptions(pool, mode),
    members: assignment.members.map((member, at) => {
      if (member === null) return null
      const known = nodesHad[at] ?? null
      return known !== null && isAs(known, member) ? known : nodeMember(member)
    }),
    slots,
    check: pool.monitor?.enabled ? checkSpec(pool.monitor) : null,
    panicThreshold: pool.panicThreshold,
    ...failureSettings(pool),
    ...tls,
  }
  return { placed, node }
}

/** The options of a pool as nodes get them: what neither its members nor certificates decide. */
export const poolOptions = (
  pool: Pool,
  mode: NodePool['mode'],
): Pick<NodePool, 'clientNetworks' | 'session' | 'proxyProtocol' | 'refusedPercent' | 'http2'> => ({
  ...(mode === 'l4' && clientNetworksOf(pool)),
  ...sessionOf(pool),
  proxyProtocol: proxyProtocolOf(pool),
  ...(pool.refusedPercent === undefined || mode !== 'l4' ? {} : { refusedPercent: pool.refusedPercent }),
  ...(pool.http2 === undefined || mode !== 'http' ? {} : { http2: true as const }),
})

const keptFor = ({ persistence }: Pool): Pick<NodePool, 'keepSeconds'> =>
  persistence?.type === 'source-ip' && persistence.timeoutSeconds !== null
    ? { keepSeconds: persistence.timeoutSeconds }
    : {}

/** The networks that count as one client. Empty if each address is a client. */
const clientNetworksOf = ({ persistence }: Pool): Pick<NodePool, 'clientNetworks'> =>
  persistence?.type === 'source-ip' ? withoutWhole(persistence.networks) : {}

/** Leaves out prefixes of whole addresses, which are the default. */
function withoutWhole({ ipv4Prefix = 32, ipv6Prefix = 128 }: ClientNetworks = {}): Pick<NodePool, 'clientNetworks'> {
  const networks = { ...(ipv4Prefix < 32 && { ipv4Prefix }), ...(ipv6Prefix < 128 && { ipv6Prefix }) }
  return Object.keys(networks).length === 0 ? {} : { clientNetworks: networks }
}

function sessionOf({ persistence }: Pool): Pick<NodePool, 'session'> {
  if (persistence?.type === 'cookie')
    return {
      session: { by: 'cookie', ...(persistence.cookie !== undefined && { cookie: persistence.cookie }) },
    }
  if (persistence?.type !== 'application-cookie') return {}
  return { session: { by: 'application-cookie', cookieName: persistence.cookieName } }
}

/**
 * The settings that differ from the defaults. The others are left out, so that entries of earlier versions keep their
 * hash.
 */
const failureSettings = ({
  slowStartSeconds,
  drainSeconds,
  resetOnDown,
  passiveCheck,
}: Pool): Pick<NodePool, 'slowStartMs' | 'drainMs' | 'resetOnDown' | 'passive'> => ({
  ...(slowStartSeconds > 0 ? { slowStartMs: slowStartSeconds * 1000 } : {}),
  ...(drainSeconds * 1000 !== DEFAULT_DRAIN_MS ? { drainMs: drainSeconds * 1000 } : {}),
  ...(resetOnDown ? { resetOnDown } : {}),
  ...(passiveCheck === null ? {} : { passive: passiveSpec(passiveCheck) }),
})

const passiveSpec = ({ on, failures, holdSeconds, maxDownPercent }: PassiveCheck): PassiveSpec => ({
  on,
  failures,
  holdMs: holdSeconds * 1000,
  maxDownPercent,
})

function proxyProtocolOf(pool: Pool): NodePool['proxyProtocol'] {
  if (pool.protocol === 'tcp-proxy-v1') return 'v1'
  return pool.protocol === 'tcp-proxy-v2' ? 'v2' : 'none'
}

const nodeMember = (member: Pool['members'][number]): NodeMember => ({
  id: member.id,
  address: member.address,
  port: member.port,
  weight: member.weight,
  backup: member.backup,
  checkAddress: member.monitorAddress ?? member.address,
  checkPort: member.monitorPort ?? member.port,
})

/** Whether `nodeMember` would return an equal object. */
const isAs = (known: NodeMember, member: Pool['members'][number]): boolean =>
  known.id === member.id &&
  known.address === member.address &&
  known.port === member.port &&
  known.weight === member.weight &&
  known.backup === member.backup &&
  known.checkAddress === (member.monitorAddress ?? member.address) &&
  known.checkPort === (member.monitorPort ?? member.port)

const checkSpec = (monitor: NonNullable<Pool['monitor']>): CheckSpec => ({
  type: monitor.type,
  intervalMs: monitor.intervalMs,
  timeoutMs: Math.min(monitor.timeoutMs, MOST_CHECK_TIMEOUT_MS),
  rise: monitor.rise,
  fall: monitor.fall,
  ...checkSettings(monitor),
})

/** Those of its type; older nodes expect `http` of every check. */
const checkSettings = (monitor: NonNullable<Pool['monitor']>): Pick<CheckSpec, CheckSettingsField> => ({
  http: null,
  ...Object.fromEntries(
    CHECK_SETTINGS_FIELDS.flatMap((field) => (monitor[field] === undefined ? [] : [[field, monitor[field]]])),
  ),
})
