import type { DomainEntry } from '@spout/model/node-state'
import { Arrangement } from '../arrangement.ts'
import { type DriverLab, VIP_PREFIX } from '../driver-conformance.ts'
import { domainEntry, member } from '../entries.ts'
import { LabNode } from '../lab-node.ts'
import { holdVips } from './direct-return.ts'

const MEMBERS = { red1: '10.0.0.11', red2: '10.0.0.12', red9: '10.0.0.99' }

/** The driver on node1 of an arrangement; its client has a route for the VIPs, so nothing needs to announce them. */
export const nftablesLab = (): Promise<DriverLab> => labOf(domainEntry(1), 8080)

/** The same with return path `dsr`: members have the listeners' port and hold the VIPs. */
export const forwardingLab = async (): Promise<DriverLab> => ({
  ...(await labOf(domainEntry(1, { returnPath: 'dsr', gateway: null }), 80)),
  answersPassBy: true,
})

async function labOf(red: DomainEntry, port: number): Promise<DriverLab> {
  const signal = new AbortController().signal
  const arrangement = await Arrangement.create()
  const instance = arrangement.instanceOf('node1')
  const isForwarding = red.returnPath === 'dsr'
  const table = `${isForwarding ? 'netdev' : 'inet'} spout`
  let node: LabNode | null = null
  const restart = async () => {
    await node?.die()
    node = await LabNode.start(arrangement, 'node1')
    return node
  }
  const inDomain = (command: string) =>
    arrangement.run('node1', `nsenter --net=/run/netns/${instance}-d${red.number} ${command}`)
  const end = async () => {
    await node?.end([red.number])
    await arrangement[Symbol.asyncDispose]()
  }
  try {
    await arrangement.peer('red9').serve(port)
    if (isForwarding) {
      for (const name of ['red1', 'red2']) await arrangement.peer(name).serve(port)
      await holdVips(arrangement, Object.keys(MEMBERS), [VIP_PREFIX])
    }
    // A VIP that the driver does not steer is refused at once: the kernel tells of missing routes once a second.
    await arrangement.run('node1', `ip route add local ${VIP_PREFIX} dev lo`)
    await arrangement.run('client', `ip route add ${VIP_PREFIX} via 10.9.0.1`)
    const { domains } = await restart()
    await domains.adopt([])
    await domains.apply({ put: [red], remove: [] }, signal)
  } catch (error) {
    await end()
    throw error
  }
  const [m1, m2, m3] = Object.entries(MEMBERS).map(([name, address]) => member(name, address, { port }))
  return {
    domain: red,
    protocol: 'tcp',
    members: [m1!, m2!, m3!],
    client: arrangement.peer('client'),
    restart: async () => (await restart()).driver,
    frontEnd: ({ entry }) => ({ address: entry.vips[0]!.address, port: entry.services[0]!.port }),
    // Two values for one key: the neighbour has the VIP and port.
    refused: async (wanted, neighbour) => ({ ...wanted, entry: { ...wanted.entry, vips: neighbour.entry.vips } }),
    meddle: async () => void (await inDomain(`nft delete table ${table}`)),
    content: async () => {
      const { nftables } = JSON.parse(await inDomain(`nft -j list table ${table}`)) as Listing
      const routes = await arrangement.run('node1', 'ip route show table 7100')
      return { sets: nftables.flatMap(elementsOf).sort(), routes: routes.split('\n').sort() }
    },
    end,
  }
}

interface Listing {
  readonly nftables: readonly Readonly<Record<string, { readonly name?: string; readonly elem?: readonly unknown[] }>>[]
}

/** The elements of a set or map, without what they counted. */
const elementsOf = (object: Listing['nftables'][number]): readonly string[] =>
  Object.values(object).flatMap(({ name, elem = [] }) =>
    elem.map((element) => JSON.stringify([name, element], (key, value) => (key === 'counter' ? undefined : value))),
  )
