import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Domains } from '@spout/agent'
import {
  BgpAnnouncer,
  connectionShare,
  type DataPlaneDriver,
  DEFAULT_LIMITS,
  type DomainConfig,
  DomainSet,
  type EntryFollower,
  FabricAddress,
  FlowReplication,
  HaproxyDriver,
  type HealthCheck,
  httpCheck,
  httpsCheck,
  L2Announcer,
  MemberFlows,
  memoryShare,
  NeighbourWatch,
  NetworkShareUse,
  NftablesDriver,
  NodeAnnouncers,
  networkShares,
  ProcessorUse,
  ProxyDrain,
  pingCheck,
  proxyPlaceOf,
  refuseKnownBad,
  SecondChance,
  ShardProxyDrains,
  ShareWatch,
  SystemHost,
  sctpCheck,
  tcpCheck,
  tlsHelloCheck,
  udpCheck,
  VipSteering,
  VrrpAnnouncer,
} from '@spout/dataplane'
import { domainOfKey } from '@spout/model/entry-keys'
import type { Clock, Component, Logger } from '@spout/runtime'
import { NativeHelper } from '@spout/sys'
import type { AgentConfig } from './config.ts'
import { findFabricInterface } from './fabric-interface.ts'

/** The parts of this machine that the agent works on. */
export interface DataPlane extends Component {
  readonly helper: NativeHelper
  readonly domains: Domains
  /** In order: the proxy is programmed before the packet path redirects to it. */
  readonly drivers: readonly DataPlaneDriver[]
  /** Follow the entries of all drivers, in this order. */
  readonly followers: readonly EntryFollower[]
  readonly announcer: NodeAnnouncers
  readonly checks: readonly HealthCheck[]
  /** Watches how much tenant networks use of the node. */
  readonly shares: ShareWatch
}

/**
 * Starts the native helper and composes drivers, announcers and checks. Changes nothing on the machine yet.
 * @throws Error if the proxy's build is known to be bad; running processes continue
 */
export async function openDataPlane(config: AgentConfig, clock: Clock, log: Logger): Promise<DataPlane> {
  // Others may traverse it, since some daemons run in directories below it without root rights.
  for (const directory of [
    config.haproxy.runDirectory,
    config.vrrp.directory,
    config.bgp.directory,
    config.flows.directory,
  ])
    await mkdir(dirname(directory), { recursive: true, mode: 0o755 })
  await refuseKnownBad(config.haproxy.executable)
  const helper = await NativeHelper.start({ path: config.helper.path, log })
  const shares = networkShares(config.shares)
  const domainConfig: DomainConfig = {
    instance: config.instance,
    fabricInterface: await findFabricInterface(config.fabric),
    rootNamespace: config.fabric.namespace || null,
    segments: config.segments,
    hostSegments: config.hostSegments,
    protectedCidrs: config.protectedCidrs,
    shares,
  }
  const domainSet = new DomainSet({ config: domainConfig, helper, log })
  const { cgroup, memoryMegabytes, processors, requestSeconds, ...options } = config.haproxy
  const host = await SystemHost.probe(
    cgroup,
    { ...DEFAULT_LIMITS, memoryBytes: memoryMegabytes * 1024 * 1024, cpus: processors },
    // Works with the kernel's default time slice too, only less evenly.
    (request) =>
      helper
        .timeSlice(request)
        .catch((error: unknown) =>
          log.warn({ event: 'no-time-slice', err: error }, 'proxies keep the default time slice'),
        ),
  )
  const proxyPlace = proxyPlaceOf(domainConfig)
  const haproxy = new HaproxyDriver({
    place: proxyPlace,
    host,
    clock,
    log,
    options: { ...options, requestWithinMs: requestSeconds * 1_000 },
  })
  const nftables = new NftablesDriver({ config: domainConfig, helper, log })
  const steering = new VipSteering({ config: domainConfig, helper, log })
  const memberFlows = new MemberFlows({
    config: domainConfig,
    helper,
    log,
    clock,
    drainFile: join(config.stateDirectory, 'drains.json'),
  })
  const flows = new FlowReplication({ config: domainConfig, log, clock, ...config.flows })
  const fabricAddress = new FabricAddress({ config: domainConfig, helper })
  const secondChance = new SecondChance({ config: domainConfig, helper, log, clock })
  const announcer = new NodeAnnouncers({
    l2: new L2Announcer({ config: domainConfig, helper, log }),
    neighbours: new NeighbourWatch({ config: domainConfig, helper, clock }),
    vrrp: new VrrpAnnouncer({
      config: domainConfig,
      helper,
      log,
      clock,
      directory: config.vrrp.directory,
      moverPath: config.vrrp.mover,
      keepalivedPath: config.vrrp.executable,
    }),
    bgp: new BgpAnnouncer({
      config: domainConfig,
      helper,
      log,
      clock,
      runDirectory: config.bgp.directory,
      table: config.bgp.table,
      listenPort: config.bgp.listenPort,
      executable: config.bgp.executable,
      user: config.bgp.user,
    }),
    flows,
    secondChance,
    proxyDrain: new ProxyDrain({ proxies: haproxy, log, clock }),
    shardProxyDrains: new ShardProxyDrains({ proxies: haproxy, log, clock }),
    fabricAddress: () => fabricAddress.read(),
  })
  const use = new NetworkShareUse({ helper, shares })
  const place = (domain: number): string => domainSet.netns(domain)
  return {
    name: 'data-plane',
    helper,
    domains: withFlows(withoutProxies(domainSet, haproxy), flows),
    drivers: [haproxy, nftables],
    followers: [steering, memberFlows, secondChance],
    announcer,
    checks: [
      tcpCheck(helper, place),
      httpCheck(helper, place),
      httpsCheck(helper, place),
      tlsHelloCheck(helper, place),
      pingCheck(helper, place),
      udpCheck(helper, place),
      sctpCheck(helper, place),
    ],
    shares: new ShareWatch({
      domains: () => domainSet.numbers(),
      sources: [
        {
          read: (domain) => use.read(domainSet.netns(domain)),
          forget: (domain) => use.forget(domainSet.netns(domain)),
        },
        new ProcessorUse({
          place: proxyPlace,
          throttling: (name) => host.throttling(name),
          processors,
        }),
        memoryShare({ place: proxyPlace, memory: (name) => host.memory(name) }),
        connectionShare((domain) => haproxy.connections(domain)),
      ],
      log,
    }),
    start: () => {},
    /** Releases our handles. Everything that is programmed stays in force. */
    stop: async () => {
      for (const part of [announcer, secondChance, memberFlows, steering, nftables, haproxy]) await part.close()
      await helper.close()
    },
  }
}

/** A domain is removed after its proxy, since a process inside would keep its namespace alive. */
const withoutProxies = (domains: DomainSet, haproxy: HaproxyDriver): Domains => ({
  adopt: (previous) => domains.adopt(previous),
  apply: async (changes, signal) => {
    for (const key of changes.remove) await haproxy.stopDomain(domainOfKey(key)!)
    return domains.apply(changes, signal)
  },
  observe: () => domains.observe(),
})

/** Replicates the flows of each domain while it exists. */
const withFlows = (domains: Domains, flows: FlowReplication): Domains => ({
  adopt: async (previous) => {
    const found = await domains.adopt(previous)
    await flows.adopt(previous)
    return found
  },
  apply: async (changes, signal) => {
    await flows.follow(
      [],
      changes.remove.map((key) => domainOfKey(key)!),
    )
    const outcomes = await domains.apply(changes, signal)
    await flows.follow(changes.put)
    return outcomes
  },
  observe: () => domains.observe(),
})
