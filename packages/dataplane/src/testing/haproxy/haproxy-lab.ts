import { mkdtemp, readFile, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetns, deleteNetns } from '@spout/sys'
import type { WantedEntry } from '../../contracts/driver.ts'
import { parseMaps, parseServers } from '../../drivers/haproxy/commands/show.ts'
import { StatsSocket } from '../../drivers/haproxy/commands/stats-socket.ts'
import { HaproxyDriver } from '../../drivers/haproxy/haproxy-driver.ts'
import { SystemHost } from '../../drivers/haproxy/place/proxy-host.ts'
import { endLeftProxies } from '../../drivers/haproxy/processes/left-proxies.ts'
import { proxyFiles } from '../../drivers/haproxy/processes/proxy-files.ts'
import { backendName } from '../../drivers/haproxy/rendering/content.ts'
import { DEFAULT_OPTIONS } from '../../drivers/haproxy/sections/options.ts'
import type { DriverLab } from '../driver-conformance.ts'
import { domainEntry, member } from '../entries.ts'
import { labPrefix } from '../lab-names.ts'
import { silent } from '../lab-node.ts'
import { Peer } from '../peer-client.ts'

const ADDRESS = '127.0.0.1'
const PORTS = { m1: 8081, m2: 8082, m3: 8083 }
/** A server that the driver knows nothing of. */
const FOREIGN = 'taken'

/** The proxy of one domain; client and members are in its namespace. */
export async function haproxyLab(): Promise<DriverLab> {
  const red = domainEntry(1)
  const parent = labPrefix()
  const namespace = `${parent}-d${red.number}`
  const runDirectory = await mkdtemp(join(tmpdir(), 'spt-'))
  const files = proxyFiles(join(runDirectory, namespace), runDirectory)
  const host = await SystemHost.probe(parent)
  const drivers: HaproxyDriver[] = []
  const peers: Peer[] = []

  const peer = (name: string): Peer => {
    const started = new Peer(namespace, name)
    peers.push(started)
    return started
  }
  const end = async () => {
    await Promise.all(drivers.map((driver) => driver.close()))
    await endLeftProxies(runDirectory, new Set(), host)
    await Promise.all(peers.map((each) => each.stop()))
    await deleteNetns(namespace)
    await rm(runDirectory, { recursive: true, force: true })
    for (const controller of ['memory', 'pids', 'cpu'])
      await rmdir(`/sys/fs/cgroup/${controller}/${parent}`).catch(() => {})
  }
  const say = async (...commands: readonly string[]): Promise<readonly string[]> => {
    const { generation } = JSON.parse(await readFile(files.state, 'utf8')) as { generation: number }
    const socket = await StatsSocket.connect(files.statsSocket(generation), () => {})
    try {
      return await socket.execute(commands.map((command) => `${command}\n`))
    } finally {
      socket.close()
    }
  }
  const driver = (): HaproxyDriver => drivers.at(-1)!
  const frontEnd = (wanted: WantedEntry) => {
    const found = driver().proxyPort(wanted.entry.services[0]!.id)
    if (found === null) throw new Error(`nothing carries ${wanted.key}`)
    return { address: ADDRESS, port: found.port }
  }
  /** The backend that the proxy leads the entry's service to. */
  const backendOf = async (wanted: WantedEntry) => {
    const [maps = '', servers = ''] = await say(`show map ${files.map('backend')}`, 'show servers state')
    const slot = frontEnd(wanted).port - DEFAULT_OPTIONS.firstPort
    const backend = parseMaps({ backend: maps }).frontends.get(slot)?.backend ?? ''
    return { backend, servers: parseServers(servers).get(Number(backend.slice(1))) ?? new Map() }
  }
  let undo: string | null = null

  try {
    await createNetns(namespace)
    for (const [name, port] of Object.entries(PORTS)) await peer(name).serve(port)
  } catch (error) {
    await end()
    throw error
  }
  const [m1, m2, m3] = Object.entries(PORTS).map(([name, port]) => member(name, ADDRESS, { port }))
  return {
    domain: red,
    protocol: 'tcp-proxy',
    members: [m1!, m2!, m3!],
    client: peer('client'),
    restart: async () => {
      if (undo !== null) await say(undo)
      undo = null
      const place = { name: namespace, namespace, address4: ADDRESS, address6: null }
      const options = { runDirectory, sweepEveryMs: 20 }
      drivers.push(new HaproxyDriver({ place: () => place, host, log: silent, options }))
      return driver()
    },
    frontEnd,
    // Another server has the number that the new one would have.
    refused: async (wanted) => {
      const pools = wanted.entry.pools.map((pool) => ({ ...pool, members: [...pool.members, m3!] }))
      const changed = { ...wanted, entry: { ...wanted.entry, pools } }
      const { id } = driver().render(changed).backends[0]!.servers.at(-1)!
      const { backend } = await backendOf(wanted)
      await say(`add server ${backend}/${FOREIGN} ${ADDRESS}:9 id ${id}`)
      undo = `del server ${backend}/${FOREIGN}`
      return changed
    },
    meddle: async () => {
      const [state = ''] = await say('show servers state')
      const servers = [...parseServers(state)].flatMap(([slot, names]) =>
        [...names.keys()].map((name) => `${backendName(slot)}/${name}`),
      )
      const removals = servers.flatMap((path) => [`set server ${path} state maint`, `del server ${path}`])
      await say(`clear map ${files.map('backend')}`, ...removals)
    },
    content: (entries) =>
      Promise.all(
        entries.map(async (wanted) => ({
          key: wanted.key,
          servers: [...(await backendOf(wanted)).servers].toSorted(([one], [other]) => one.localeCompare(other)),
        })),
      ),
    end,
  }
}
