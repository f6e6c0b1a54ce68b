import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { type Domains, savedAnnouncements } from '@spout/agent'
import {
  AnnouncerRegistry,
  BgpAnnouncer,
  connectionShare,
  type DataPlaneDriver,
  DEFAULT_LIMITS,
  type DomainConfig,
  DomainSet,
  type EntryFollower,
  ExternalDriver,
  FabricAddress,
  FlowReplication,
  flowsOfGroup,
  GroupMembership,
  HaproxyDriver,
  type HealthCheck,
  healthChecks,
  isBuiltWithLua,
  KeptShards,
  L2Announcer,
  type LineCounts,
  leaveFabric,
  MemberFlows,
  type MetricsOf,
  memoryShare,
  mirrorShare,
  NeighbourWatch,
  NetworkShareUse,
  NftablesDriver,
  networkShares,
  type OnRequest,
  ProcessorUse,
  ProxyDrain,
  proxyDrainOfGroup,
  proxyPlaceOf,
  refuseKnownBad,
  SecondChance,
  ShardProxyDrains,
  ShareWatch,
  SyslogSenders,
  SystemHost,
  secondChanceOfGroup,
  shardOwnership,
  shardProxyDrainsOfGroup,
  VipSteering,
  VrrpAnnouncer,
} from '@spout/dataplane'
import { domainOfKey } from '@spout/model/entry-keys'
import type { Clock, Component, Logger } from '@spout/runtime'
import { NativeHelper } from '@spout/sys'
import { certificateDirectory } from './certificate-directory.ts'
import type { AgentConfig } from './config.ts'
import { changeFabricRecord, readFabricRecord } from './fabric-record.ts'
import { type ComposedFabric, composeFabric } from './group-fabric.ts'
import { fabricFile, stateFile } from './state-files.ts'

const HAND_OVER_WITHIN_MS = 10_000

/** The parts of this machine that the agent works on. */
export interface DataPlane extends Component {
  readonly helper: NativeHelper
  readonly domains: Domains
  /** Lines of requests that the proxies wrote. */
  readonly requestLines: () => LineCounts
  /** In order: the proxy is programmed before the packet path redirects to it. */
  readonly drivers: readonly DataPlaneDriver[]
  /** Follow the entries of all drivers, in this order. */
  readonly followers: readonly EntryFollower[]
  readonly announcers: AnnouncerRegistry
  /** The node's membership in its group, the announcers included. */
  readonly group: GroupMembership
  readonly flows: FlowReplication
  /** The interface that it works on. */
  readonly fabric: ComposedFabric
  readonly fabricAddress: FabricAddress
  readonly checks: readonly HealthCheck[]
  /** How many proxies run, by kind. */
  readonly proxies: () => { readonly shared: number; readonly dedicated: number }
  /** Sends access logs to receivers in tenants' networks. */
  readonly syslog: SyslogSenders
  /** Watches how much tenant networks use of the node. */
  readonly shares: ShareWatch
}

/** Figures that proxies ask the agent for, and those that they give it. */
export interface ProxyFigures {
  readonly metricsOf: MetricsOf
  readonly onRequest: OnRequest
  /** Whether logged requests are written to access logs. */
  readonly accessLogs: boolean
  /** Whether they are sent to syslog receivers. */
  readonly syslog: boolean
}

/** The dependencies of every part on this machine. */
interface Machine {
  /** Where the machine meets the fabric and the tenants' networks. */
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Starts the native helper and composes drivers, announcers and checks. Changes nothing on the machine yet.
 * @param figures what a listener of protocol `metrics` answers with, null for others; who is told of requests
 * @throws Error if the proxy's build is known to be bad; running processes continue
 */
export async function openDataPlane(
  config: AgentConfig,
  clock: Clock,
  log: Logger,
  figures: ProxyFigures,
): Promise<DataPlane> {
  await makeRunDirectories(config)
  await refuseKnownBad(config.haproxy.executable)
  const helper = await NativeHelper.start({ path: config.helper.path, log })
  const record = await readFabricRecord(fabricFile(config), (err) =>
    log.error(
      { event: 'fabric-file-damaged', err },
      'what an earlier agent announced on another interface stays there',
    ),
  )
  const fabric = await composeFabric(config, record)
  const machine: Machine = { config: describeMachine(config, fabric), helper, clock, log }
  const domains = new DomainSet(machine)
  const proxies = await openProxies(config, machine, figures)
  const { haproxy } = proxies
  const syslog = new SyslogSenders({
    executable: config.accessLogs.sender,
    netns: (domain) => domains.netns(domain),
    uid: (domain) => config.haproxy.firstUid + domain,
    certificateFile: (contentId) => join(certificateDirectory(config), `${contentId}.pem`),
    ...{ clock, log },
  })
  const flows = new FlowReplication({ ...machine, ...config.flows })
  const secondChance = new SecondChance(machine)
  const external = externalDrivers(config, machine, domains)
  const carrying = external.filter(({ features }) => features.size > 0)
  const drivers = [haproxy, ...carrying, new NftablesDriver(machine)]
  const followers = [
    new VipSteering(machine),
    new MemberFlows({ ...machine, drainFile: join(config.stateDirectory, 'drains.json') }),
    secondChance,
    ...external.filter((driver) => !carrying.includes(driver)),
  ]
  const { announcers, shards } = createAnnouncers(config, machine)
  const group = createGroupMembership(machine, { announcers, shards, flows, secondChance, haproxy })
  return {
    name: 'data-plane',
    helper,
    domains: withFlows(withoutProcesses(domains, haproxy, syslog), flows),
    requestLines: () => haproxy.lines,
    drivers,
    followers,
    announcers,
    group,
    flows,
    fabric,
    fabricAddress: new FabricAddress(machine),
    checks: healthChecks(helper, (domain) => domains.netns(domain)),
    proxies: () => haproxy.proxyCounts(),
    syslog,
    shares: createShareWatch(config, machine, domains, proxies),
    /** What is announced on the interface of an earlier agent's settings is withdrawn before anything is announced on this. */
    start: () => keepToFabric(config, machine),
    /** Releases our handles. Everything that is programmed stays in force, and so do the daemons, unless they end with us. */
    stop: async () => {
      if (config.daemonsEndWithAgent) await handOverAll(announcers, machine.log)
      for (const part of [group, ...[...drivers, ...followers].reverse()]) await part.close()
      await syslog.close()
      await helper.close()
    },
  }
}

/**
 * A keepalived that is killed is missed only after some adverts, and so is the replication of flows: connections that
 * begin meanwhile would end.
 */
async function handOverAll(announcers: AnnouncerRegistry, log: Logger): Promise<void> {
  try {
    await announcers.handOverAll(AbortSignal.timeout(HAND_OVER_WITHIN_MS))
  } catch (err) {
    log.warn({ event: 'not-handed-over', err }, 'other nodes take the addresses over once they miss this one')
  }
}

/** Leaves the interface that the last agent worked on, if it was another one. */
async function keepToFabric(config: AgentConfig, machine: Machine): Promise<void> {
  const file = fabricFile(config)
  const { fabricInterface } = machine.config
  const { interface: former } = await readFabricRecord(file)
  if (former === fabricInterface) return
  if (former !== null) {
    machine.log.info({ event: 'fabric-left', from: former, to: fabricInterface }, 'the fabric interface is another one')
    const left: Machine = { ...machine, config: { ...machine.config, fabricInterface: former } }
    const { announcers, shards } = createAnnouncers(config, left)
    await leaveFabric({ config: left.config, announcers, announced: await savedAnnouncements(stateFile(config)) })
    await shards.close()
  }
  // Last, so that an agent that is killed on the way begins anew.
  await changeFabricRecord(file, { interface: fabricInterface })
}

/** Those with features carry entries; the others follow all of them. */
const externalDrivers = (
  { externalDrivers: wanted, instance }: AgentConfig,
  { clock, log }: Machine,
  domains: DomainSet,
): readonly ExternalDriver[] =>
  Object.entries(wanted).map(
    ([name, { socket, features }]) =>
      new ExternalDriver({
        ...{ name, socket, features, clock, log },
        agent: `${hostname()}/${instance}`,
        netns: (domain) => domains.netns(domain),
      }),
  )

/** Makes the parents of the run directories. Others may traverse them: some daemons in there run without root rights. */
async function makeRunDirectories({ haproxy, vrrp, bgp, flows }: AgentConfig): Promise<void> {
  for (const directory of [haproxy.runDirectory, vrrp.directory, bgp.directory, flows.directory])
    await mkdir(dirname(directory), { recursive: true, mode: 0o755 })
}

const describeMachine = (config: AgentConfig, fabric: ComposedFabric): DomainConfig => ({
  instance: config.instance,
  fabricInterface: fabric.interface,
  rootNamespace: config.fabric.namespace || null,
  segments: config.segments,
  hostSegments: config.hostSegments,
  protectedCidrs: config.protectedCidrs,
  ...localServices(config),
  shares: networkShares(config.shares),
})

function localServices({ local: { loadBalancers } }: AgentConfig): Pick<DomainConfig, 'local'> {
  const all = Object.values(loadBalancers)
  if (all.length === 0) return {}
  return {
    local: {
      addresses: [...new Set(all.map(({ address }) => address))],
      memberPorts: [...new Set(all.map(({ port, memberPort = port }) => memberPort))],
    },
  }
}

interface Proxies {
  readonly haproxy: HaproxyDriver
  readonly host: SystemHost
}

async function openProxies(config: AgentConfig, machine: Machine, figures: ProxyFigures): Promise<Proxies> {
  const { helper, clock, log } = machine
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
  const place = proxyPlaceOf(machine.config)
  const haproxy = new HaproxyDriver({
    ...{ place, host, clock, log, ...figures },
    options: {
      ...options,
      lua: await isBuiltWithLua(options.executable),
      certificateDirectory: certificateDirectory(config),
      requestWithinMs: requestSeconds * 1_000,
    },
  })
  return { haproxy, host }
}

function createAnnouncers(
  { vrrp, bgp }: AgentConfig,
  machine: Machine,
): { readonly announcers: AnnouncerRegistry; readonly shards: KeptShards } {
  const elector = new VrrpAnnouncer({
    ...machine,
    directory: vrrp.directory,
    moverPath: vrrp.mover,
    keepalivedPath: vrrp.executable,
  })
  const shards = new KeptShards({ ownership: shardOwnership(elector), clock: machine.clock })
  const announcers = new AnnouncerRegistry(
    [new L2Announcer(machine), elector, new BgpAnnouncer({ ...machine, ...bgp, runDirectory: bgp.directory })],
    shards,
  )
  return { announcers, shards }
}

function createGroupMembership(
  machine: Machine,
  {
    announcers,
    shards,
    flows,
    secondChance,
    haproxy: proxies,
  }: {
    readonly announcers: AnnouncerRegistry
    readonly shards: KeptShards
    readonly flows: FlowReplication
    readonly secondChance: SecondChance
    readonly haproxy: HaproxyDriver
  },
): GroupMembership {
  const { clock, log } = machine
  return new GroupMembership({
    first: [secondChanceOfGroup(secondChance), shards],
    followers: [
      flowsOfGroup(flows),
      announcers,
      new NeighbourWatch(machine),
      proxyDrainOfGroup(new ProxyDrain({ proxies, log, clock }), announcers),
      shardProxyDrainsOfGroup(new ShardProxyDrains({ proxies, log, clock }), announcers),
    ],
  })
}

function createShareWatch(
  { haproxy: { processors }, shares }: AgentConfig,
  { helper, log }: Machine,
  domains: DomainSet,
  { haproxy, host }: Proxies,
): ShareWatch {
  const places = (domain: number) => haproxy.placesOf(domain)
  const use = new NetworkShareUse({ helper, shares: networkShares(shares) })
  return new ShareWatch({
    domains: () => domains.numbers(),
    sources: [
      {
        read: (domain) => use.read(domains.netns(domain)),
        forget: (domain) => use.forget(domains.netns(domain)),
      },
      new ProcessorUse({ places, throttling: (name) => host.throttling(name), processors }),
      memoryShare({ places, memory: (name) => host.memory(name) }),
      connectionShare({ places, connections: (...of) => haproxy.connections(...of) }),
      mirrorShare({ places, mirrors: (...of) => haproxy.mirrors(...of) }),
    ],
    log,
  })
}

/** A domain is removed after the processes inside, since these would keep its namespace alive. */
const withoutProcesses = (domains: DomainSet, haproxy: HaproxyDriver, syslog: SyslogSenders): Domains => ({
  adopt: (previous) => domains.adopt(previous),
  apply: async (changes, signal) => {
    for (const key of changes.remove) {
      await haproxy.stopDomain(domainOfKey(key)!)
      await syslog.stopDomain(domainOfKey(key)!)
    }
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
