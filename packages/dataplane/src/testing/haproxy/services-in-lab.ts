import type { LoadBalancerEntry, NodeMember, NodePool, Service } from '@spout/model'
import { afterAll, afterEach, expect } from 'vitest'
import type { HaproxyDriver } from '../../drivers/haproxy/haproxy-driver.ts'
import { type LabMember, MEMBER_ADDRESS, ProxyLab } from './proxy-lab.ts'
import { sampleEntry, sampleMember, samplePool, sampleService, sampleWanted } from './sample-entry.ts'

/** A lab for the tests of a file: what each left running is ended after it, and everything after the last. */
export async function proxyLabOfFile() {
  const lab = await ProxyLab.create()
  const members: { close(): void }[] = []
  afterEach(() => lab.clear())
  afterAll(async () => {
    for (const member of members) member.close()
    await lab.down()
  })
  return {
    lab,
    /** Where clients reach the proxy. */
    host: lab.place.address4!,
    /** A member, which is closed after the last test. */
    started: async <T extends { close(): void }>(member: Promise<T>): Promise<T> => {
      members.push(await member)
      return member
    },
  }
}

/** A member of the lab, as entries name it. */
export const memberAt = (
  { name, port }: Pick<LabMember, 'name' | 'port'>,
  change: Partial<NodeMember> = {},
): NodeMember => sampleMember(1, { id: name, address: MEMBER_ADDRESS, port, ...change })

/** One HTTP listener, `web-80`. */
export const webEntry = (
  members: readonly (NodeMember | null)[],
  pool: Partial<NodePool> = {},
  service: Partial<Service> = {},
): LoadBalancerEntry => sampleEntry('web', [sampleService('web-80', service)], [samplePool(1, { members, ...pool })])

/** One listener of proxied TCP, `tcp-7`. */
export const tcpEntry = (members: readonly NodeMember[], pool: Partial<NodePool> = {}): LoadBalancerEntry =>
  sampleEntry(
    'tcp',
    [sampleService('tcp-7', { protocol: 'tcp-proxy', port: 7 })],
    [samplePool(1, { mode: 'tcp-proxy', members, ...pool })],
  )

/** A listener of each kind, `web-80` and `tcp-7`, with a member each. */
export const bothEntry = (web: LabMember, echo: LabMember): LoadBalancerEntry =>
  sampleEntry(
    'both',
    [sampleService('web-80'), sampleService('tcp-7', { protocol: 'tcp-proxy', port: 7, pool: 2 })],
    [samplePool(1, { members: [memberAt(web)] }), samplePool(2, { mode: 'tcp-proxy', members: [memberAt(echo)] })],
  )

/** Gives the driver an entry, which it must take. */
export async function put(
  driver: HaproxyDriver,
  entry: LoadBalancerEntry,
  down: readonly string[] = [],
): Promise<void> {
  const [applied] = await driver.apply({ put: [sampleWanted(entry, down)], remove: [] })
  expect(applied).toMatchObject({ state: 'programmed', message: null })
}

/** The port of the proxy that carries a listener. */
export const portOf = (driver: HaproxyDriver, service: string): number => driver.proxyPort(service)!.port
