import { recordFault } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Arrangement } from '../lab/arrangement.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../lab/entries.ts'
import { LabNode } from '../lab/lab-node.ts'
import type { Peer } from '../lab/peer-client.ts'

/**
 * What admission refuses is handed to the node directly: subnets and members where no tenant may send anything. They are
 * really there, on the tenant's own segment, and answer everybody else.
 */

const signal = new AbortController().signal
const MANAGEMENT = '10.77.0.0/16'
const WRONG = [
  ['management', '10.77.0.0/16', '10.77.0.11', '10.77.0.250'],
  ['link-local', '169.254.0.0/16', '169.254.10.11', '169.254.0.250'],
  ['shared with the metadata service', 'fd00:ec2::/32', 'fd00:ec2::254', 'fd00:ec2::250'],
  ['NAT64', '64:ff9b::/96', '64:ff9b::a00:b', '64:ff9b::250'],
  ['6to4', '2002:a00:b::/48', '2002:a00:b::1', '2002:a00:b::250'],
] as const
const subnets = WRONG.map(([, cidr, , nodeAddress]) => ({ cidr, nodeAddress, gatewayIp: null, sharedAddress: null }))

const VIP = { 4: '10.9.0.100', 6: 'fd09::100' } as const
const versionOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)

let lab: Arrangement
let node: LabNode
let client: Peer

beforeAll(async () => {
  lab = await Arrangement.create()
  for (const [, cidr, address] of WRONG)
    await lab.run('red1', `ip address add ${address}/${cidr.split('/')[1]} dev eth0`)
  node = await LabNode.start(lab, 'node1', undefined, undefined, { protectedCidrs: [MANAGEMENT] })
  client = lab.peer('client')
  await node.domains.adopt([])
})
afterAll(async () => {
  await node?.end([1])
  await lab?.[Symbol.asyncDispose]()
})

describe.each(['snat', 'gateway'] as const)('where validation is off, return path %s', (returnPath) => {
  const plain = domainEntry(1, { returnPath, gateway: null })
  const domain = { ...plain, subnets: [...plain.subnets, ...subnets] }

  it('no packet of a client, no connection of the proxy and no probe reaches what no tenant may name', async () => {
    expect(await node.domains.apply({ put: [domain], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
    const netns = `/run/netns/${node.config.instance}-d1`
    const probes = (address: string) => {
      const target = { netns, address, timeoutMs: 300 }
      const port = 8080
      return Promise.all([
        node.helper.connect({ ...target, port }).then(({ connected }) => connected),
        node.helper.ping(target).then(({ answered }) => answered),
      ])
    }
    /** What clients of VIPs of both families see of each member, each behind a port of its own. */
    const clientSees = async (addresses: readonly string[]): Promise<readonly string[]> => {
      const entry = wanted('a', domain, {
        vips: [vip(VIP[4]), vip(VIP[6])],
        services: addresses.flatMap((_, n) => [
          service(`tcp${n}`, 80 + n, 5 + n),
          service(`udp${n}`, 80 + n, 5 + n, { protocol: 'udp' }),
        ]),
        pools: addresses.map((address, n) => pool(5 + n, [member(`m${n}`, address)])),
      })
      expect(await node.driver.apply({ put: [entry], remove: [] }, signal)).toMatchObject([{ state: 'programmed' }])
      const announcements = Object.values(VIP).map((address) => ({
        ...{ address, scope: 'fabric' as const, domain: 1, by: { via: 'l2' as const } },
      }))
      await node.announcer.apply(announcements, signal)
      const seen = await Promise.all(
        addresses.flatMap((address, n) => {
          const front = VIP[versionOf(address)]
          return [client.connect(front, 80 + n), client.datagram(front, 80 + n)]
        }),
      )
      await node.announcer.apply([], signal)
      await node.driver.apply({ put: [], remove: ['lb/a'] }, signal)
      return seen
    }
    // The ways are open where they may be.
    expect(await probes('10.0.0.11')).toEqual([true, true])
    if (returnPath === 'snat') expect((await clientSees(['10.0.0.11'])).join()).toMatch(/red1.*red1/)
    const addresses = WRONG.map(([, , address]) => address)
    const reached = await Promise.all(addresses.map(probes))
    expect(reached.map(([tcp, ping], n) => [WRONG[n]?.[0], tcp, ping])).toEqual(
      WRONG.map(([what]) => [what, false, false]),
    )
    expect((await clientSees(addresses)).join()).not.toContain('red1')
    recordFault({
      fault: `tenant: forbidden members past validation (${returnPath})`,
      outcome: 'nothing reaches them: forwarded, proxied or probed',
      figure: `${WRONG.length} kinds of address`,
    })
  })
})
