import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetns, deleteNetns, netnsPath } from '@spout/sys'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { domainEntry, service, vip, wanted } from '../../testing/entries.ts'
import { EdgeFirewall } from '../../testing/external/edge-firewall.ts'
import { describeExternalDriver } from '../../testing/external/external-conformance.ts'
import { labPrefix } from '../../testing/lab-names.ts'
import { silent } from '../../testing/lab-node.ts'
import { ExternalDriver } from './external-driver.ts'

/** A firewall in a namespace of its own. */
async function openFirewall() {
  const namespace = labPrefix()
  const directory = await mkdtemp(join(tmpdir(), 'spt-edge-'))
  const socket = join(directory, 'edge')
  const firewall = new EdgeFirewall(namespace, socket)
  const end = async () => {
    await firewall.kill()
    await deleteNetns(namespace)
    await rm(directory, { recursive: true })
  }
  try {
    await createNetns(namespace)
    await firewall.start()
  } catch (error) {
    await end()
    throw error
  }
  return { firewall, socket, netns: netnsPath(namespace), end }
}

describeExternalDriver('the firewall', async () => {
  const { firewall, ...place } = await openFirewall()
  return { ...place, features: [], domain: domainEntry(1), content: () => firewall.open() }
})

// For those who write one: `SPOUT_DRIVER_SOCKET=/run/mine SPOUT_DRIVER_FEATURES=l4.tcp,l4.udp ./dev test lab external-driver`.
const { SPOUT_DRIVER_SOCKET: theirs, SPOUT_DRIVER_FEATURES: features = '' } = process.env
if (theirs !== undefined)
  describeExternalDriver(`at ${theirs}`, async () => {
    const namespace = labPrefix()
    await createNetns(namespace)
    return {
      ...{ socket: theirs, features: features.split(',').filter((one) => one !== ''), domain: domainEntry(1) },
      netns: netnsPath(namespace),
      end: () => deleteNetns(namespace),
    }
  })

let edge: Awaited<ReturnType<typeof openFirewall>>
let driver: ExternalDriver
beforeAll(async () => {
  edge = await openFirewall()
  driver = new ExternalDriver({
    ...{ name: 'edge', agent: 'node1', socket: edge.socket, features: [], log: silent },
    netns: () => edge.netns,
  })
  await driver.adopt([])
})
afterAll(async () => {
  await driver?.close()
  await edge?.end()
})

const listening = (id: string, address: string) =>
  wanted(id, domainEntry(1), {
    vips: [vip(address)],
    services: [service('dns', 53, null, { protocol: 'udp' }), service('web', 443, null, { protocol: 'https' })],
  })
const apply = (...put: readonly ReturnType<typeof listening>[]) => driver.apply({ put, remove: [] })
const opened = (...addresses: readonly string[]) =>
  addresses.flatMap((address) => [`${address} . tcp . 443`, `${address} . udp . 53`])

test('a process that died leaves the device as it is; changes fail until it is back, and it then has everything', async () => {
  const [a, b] = [listening('a', '198.51.100.21'), listening('b', '198.51.100.22')]
  await apply(a)
  expect(await edge.firewall.open()).toEqual(opened('198.51.100.21'))
  await edge.firewall.kill()
  await expect(apply(b)).rejects.toThrow(/driver edge/)
  // What it never had does not fail with it.
  expect(await driver.apply({ put: [], remove: ['lb/elsewhere'] })).toEqual([])
  expect(await driver.observe()).toEqual([])
  expect(await driver.stats()).toEqual([])
  expect(await edge.firewall.open()).toEqual(opened('198.51.100.21'))

  await edge.firewall.start()
  await expect.poll(() => apply(b).catch(() => null)).toEqual([expect.objectContaining({ state: 'programmed' })])
  expect(await edge.firewall.open()).toEqual(opened('198.51.100.21', '198.51.100.22'))
})

test('what somebody closed at the device is named, and opened again', async () => {
  const a = listening('a', '198.51.100.21')
  await apply(a)
  await edge.firewall.nft('delete element inet edge open4 { 198.51.100.21 . udp . 53 }')
  expect(await driver.observe()).toEqual(['lb/a'])
  await apply(a)
  expect(await driver.observe()).toEqual([])
})

test('what two agents want stays open until neither does', async () => {
  const other = new ExternalDriver({
    ...{ name: 'edge', agent: 'node2', socket: edge.socket, features: [], log: silent },
    netns: () => edge.netns,
  })
  await other.adopt([])
  const shared = listening('shared', '198.51.100.30')
  await other.apply({ put: [shared], remove: [] })
  await apply(shared)
  await driver.apply({ put: [], remove: [shared.key] })
  expect(await edge.firewall.open()).toEqual(expect.arrayContaining(opened('198.51.100.30')))
  await other.apply({ put: [], remove: [shared.key] })
  expect(await edge.firewall.open()).not.toEqual(expect.arrayContaining(opened('198.51.100.30')))
  await other.close()
})

test('a driver that lacks a feature which it is configured for is refused with words', async () => {
  const carrying = new ExternalDriver({
    ...{ name: 'edge', agent: 'node3', socket: edge.socket, features: ['l4.tcp'], log: silent },
    netns: () => edge.netns,
  })
  await expect(carrying.adopt([])).rejects.toThrow('driver edge: it does not offer l4.tcp')
  await carrying.close()
})
