import { readlink, stat } from 'node:fs/promises'
import { rootNetns } from '@spout/dataplane'
import { runIn } from '@spout/sys'
import type { NodePlace } from '../place.ts'
import { type MachineProcess, machineProcesses } from './machine-processes.ts'

export interface RivalsReading {
  /** Daemons of the kinds that the agent starts, which it did not start. */
  readonly daemons: readonly MachineProcess[]
  /** Who listens on a port that this node needs, and is not of the agent. */
  readonly holders: readonly { readonly port: Port; readonly by: MachineProcess | null }[]
}

interface Port {
  readonly protocol: 'tcp' | 'udp'
  readonly number: number
  readonly what: string
}

const DAEMONS: ReadonlySet<string> = new Set(['keepalived', 'bird', 'bird6', 'bgpd', 'bfdd'])

export async function readRivals(place: NodePlace): Promise<RivalsReading> {
  const netns = rootNetns(place.config)
  const network = netns === undefined ? await readlink('/proc/self/ns/net') : `net:[${(await stat(netns)).ino}]`
  const here = (await machineProcesses()).filter((process) => process.network === network)
  const strangers = here.filter((process) => !isOurs(process, place))
  const listening = await listenersIn(place.config.rootNamespace ?? null)
  return {
    // A daemon of our kind is a rival only where the group needs ours.
    daemons: strangers.filter(
      ({ program }) =>
        DAEMONS.has(program) && (program === 'keepalived' ? Boolean(place.group?.vrrp) : Boolean(place.group?.bgp)),
    ),
    holders: neededPorts(place).flatMap((port) => {
      const holder = listening.find(({ protocol, number }) => protocol === port.protocol && number === port.number)
      if (holder === undefined) return []
      const by = here.find(({ pid }) => pid === holder.pid) ?? null
      return by !== null && isOurs(by, place) ? [] : [{ port, by }]
    }),
  }
}

/** Daemons name their directory on their command line, and the agent the program that this is, too. */
function isOurs({ commandLine }: MachineProcess, { directories, ownProgram }: NodePlace): boolean {
  return [directories.vrrp, directories.bgp, directories.flows, directories.haproxy, ownProgram].some((own) =>
    commandLine.includes(own),
  )
}

const neededPorts = ({ group, bgpPort, metricsPort }: NodePlace): readonly Port[] => [
  ...(group?.bgp
    ? ([
        { protocol: 'tcp', number: bgpPort, what: 'BGP' },
        { protocol: 'udp', number: 3784, what: 'BFD' },
        { protocol: 'udp', number: 4784, what: 'BFD over several hops' },
      ] as const)
    : []),
  ...(group?.flows ? ([{ protocol: 'udp', number: group.flows.port, what: 'replication of flows' }] as const) : []),
  ...(metricsPort === null ? [] : ([{ protocol: 'tcp', number: metricsPort, what: 'metrics' }] as const)),
]

interface Listener {
  readonly protocol: string
  readonly number: number
  readonly pid: number | null
}

/** Listening sockets of TCP and unconnected ones of UDP, as `ss` shows them. */
async function listenersIn(namespace: string | null): Promise<readonly Listener[]> {
  const shown = await runIn(namespace, ['ss', '-H', '-l', '-n', '-t', '-u', '-p'])
  return shown.split('\n').flatMap((line) => {
    const [protocol = '', , , , local = ''] = line.split(/\s+/)
    const number = Number(local.slice(local.lastIndexOf(':') + 1))
    const pid = /pid=(\d+)/.exec(line)?.[1]
    return Number.isInteger(number) && number > 0
      ? [{ protocol, number, pid: pid === undefined ? null : Number(pid) }]
      : []
  })
}
