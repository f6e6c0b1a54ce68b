import { createHash } from 'node:crypto'
import type { Service } from '@spout/model/node-state'
import { isBehind, isProxied, isTracked, transportOf } from '@spout/model/protocols'
import { type Cidr, cidrContains, firstIp, type Ip, lastIp, parseCidr, parseIp } from '@spout/net'
import type { ProxyPort, WantedEntry } from '../../contracts/driver.ts'
import { memberPlaces } from './member-places.ts'
import { REDIRECT_MARKS, SERVICE_FLAGS } from './pool-mark.ts'
import { type PoolInUse, PoolRenderer } from './pool-renderer.ts'
import { type Family, RecordBuilder, setOf } from './record-builder.ts'
import { pack } from './registers.ts'
import { renderSpread } from './render-spread.ts'
import type { Rendered, RenderedService, TableKind } from './rendered.ts'
import { PORT_BYTES } from './sets.ts'

/**
 * Renders one entry as elements of its domain's table. The same entry, health and proxy ports give the same bytes on
 * every node. For a service without a member or a proxy port the second lookup finds nothing, and the guard refuses the
 * flow.
 */
export function render(wanted: WantedEntry): Rendered {
  const { entry } = wanted
  const records = new RecordBuilder()
  const vips = entry.vips.map((vip) => ({ scope: vip.scope, ip: parseIp(vip.address) }))
  const places = memberPlaces(wanted.domain)
  const pools = new PoolRenderer(entry.pools, wanted, records, places)
  const services: RenderedService[] = []
  const table = tableOf(wanted)
  const forwards = table === 'forwarding' || table === 'tunnelling'
  const tunnelled = (wanted.domain.tunnel?.subnets ?? []).map(({ cidr }) => parseCidr(cidr))
  const isRemote = (ip: Ip): boolean => tunnelled.some((cidr) => cidrContains(cidr, ip))
  const remotes = new Set<string>()
  for (const service of entry.services) {
    // The proxy hands it the connections of another listener of its port.
    if (isBehind(service, entry.services)) continue
    const transport = transportOf(service.protocol)
    const front = isProxied(service.protocol) ? (wanted.proxyPorts?.get(service.id) ?? null) : null
    const pool = isProxied(service.protocol) ? null : pools.find(service.pool)
    if (forwards) checkForwarded(service, pool)
    for (const address of pool?.addresses(isRemote) ?? []) remotes.add(address)
    for (const { ip, scope } of vips) {
      const identity = pack({ address: ip }, { transport }, { port: service.port })
      if (front !== null) renderRedirect(records, service, ip.version, identity, front)
      if (table === 'proxying') continue
      records.add(
        setOf('service', ip.version),
        identity,
        pack({ mark: flagsOf(service, forwards ? null : pool) + (pool?.mark ?? 0) }),
      )
      renderAdmission(records, service, ip.version, identity)
      // The proxy counts its own listeners.
      if (!isProxied(service.protocol)) records.add(setOf('opened', ip.version), identity)
      if (pool === null) continue
      pool.renderNetwork(ip.version)
      if (forwards) pool.renderNextHops(ip.version, isRemote)
      else pool.renderMembers(ip.version)
      if (wanted.domain.returnPath === 'gateway' && scope === 'fabric')
        pool.renderReverse(transport, { ip, port: service.port })
    }
    if (!isProxied(service.protocol)) services.push({ listenerId: service.id, transport, port: service.port })
  }
  const packed = records.packed()
  return {
    key: wanted.key,
    loadBalancerId: entry.id,
    domain: entry.domain,
    table,
    remotes: [...remotes],
    services,
    records: packed,
    digest: packed.digest(wanted.key),
    spread: places === null ? null : renderSpread(wanted, places),
  }
}

/** For a moment an entry that needs tracking may exist in a network whose domain is still untracked. */
function tableOf({ domain, entry }: WantedEntry): TableKind {
  if (domain.returnPath === 'dsr') return (domain.tunnel?.subnets ?? []).length > 0 ? 'tunnelling' : 'forwarding'
  return domain.untracked === true && !entry.services.some(isTracked) ? 'proxying' : 'translating'
}

/**
 * A forwarded packet cannot be redirected to a proxy, counted as a connection or sent to another port.
 * @throws RangeError for what admission refuses in a network with return path `dsr`
 */
function checkForwarded(service: Service, pool: PoolInUse | null): void {
  const why = isProxied(service.protocol)
    ? `is proxied (${service.protocol})`
    : service.connectionLimit !== null
      ? 'has a connection limit'
      : pool?.otherPorts(service.port).map((port) => `has a member with port ${port}, not ${service.port}`)[0]
  if (why !== undefined) throw new RangeError(`listener ${service.id} ${why}, which return path dsr cannot serve`)
}

function renderRedirect(
  records: RecordBuilder,
  service: Service,
  version: Family,
  identity: Buffer,
  { port }: ProxyPort,
): void {
  const kind = isTracked(service) ? 'checked' : 'front'
  records.add(setOf('proxied', version), identity, pack({ mark: REDIRECT_MARKS[kind] }))
  records.add(setOf(kind, version), identity, pack({ port }).subarray(0, PORT_BYTES))
}

/** Connection limit and admitted sources: alike for balanced and proxied services. */
function renderAdmission(records: RecordBuilder, service: Service, version: Family, identity: Buffer): void {
  if (service.connectionLimit !== null) {
    const mark = pack({ mark: limitMark(service.id) })
    records.add(setOf('limited', version), identity, mark)
    // The expression is true above its limit, not at it.
    records.add('limits', mark, pack({ mark: service.connectionLimit }))
  }
  if (service.allowedCidrs === null) return
  for (const cidr of outermost(service.allowedCidrs.map((text) => parseCidr(text)))) {
    if (cidr.version !== version) continue
    const ends = [firstIp(cidr), lastIp(cidr)].map((address) => Buffer.concat([identity, pack({ address })]))
    records.add(setOf('allowed', version), Buffer.concat(ends))
  }
}

/** Prefixes that no other prefix contains, since the kernel refuses overlapping ranges. */
const outermost = (cidrs: readonly Cidr[]): readonly Cidr[] =>
  cidrs.filter((cidr) => !cidrs.some((other) => other.prefix < cidr.prefix && cidrContains(other, firstIp(cidr))))

/**
 * Identifies a service in `limits`, which counts it over all its VIPs. Two services of a domain collide with a
 * probability of 2^-32; then the kernel refuses the second.
 */
const limitMark = (listenerId: string): number => createHash('sha256').update(listenerId).digest().readUInt32BE()

/** The flags in a service's mark. */
const flagsOf = (service: Service, pool: PoolInUse | null): number =>
  (isProxied(service.protocol) ? SERVICE_FLAGS.proxied : 0) |
  (service.connectionLimit === null ? 0 : SERVICE_FLAGS.limited) |
  (service.allowedCidrs === null ? 0 : SERVICE_FLAGS.restricted) |
  (pool?.keepsClients ? SERVICE_FLAGS.kept : 0)
