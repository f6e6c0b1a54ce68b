import { FABRIC, Lab, type PlaceName } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentConfig } from './config.ts'
import { findFabricInterface } from './fabric-interface.ts'

// A node of the lab has two interfaces with addresses: `fab0`, through which its default routes go, and `mgmt0`.

const NODE: PlaceName = 'node1'
const OWN = '198.51.100.2'

let lab: Lab
beforeAll(async () => {
  lab = await Lab.create()
})
afterAll(() => lab?.destroy())

const found = (reaches: string): Promise<string> =>
  findFabricInterface(
    // In a cluster the address of the node is always given, too.
    agentConfig.parse({ fabric: { interface: '', reaches, address: OWN, namespace: lab.namespace(NODE) } }).fabric,
  )
const ip = (words: string) => lab.must(NODE, ['ip', ...words.split(' ')])

it('is the one in whose network the address is, of either family', async () => {
  expect(await found(FABRIC.gateway)).toBe('fab0')
  expect(await found(FABRIC.gateway6)).toBe('fab0')
  expect(await found(lab.hostAddress)).toBe('mgmt0')
})

it('is none for an address of the node itself, or of all machines', async () => {
  await expect(found(OWN)).rejects.toThrow(
    `fabric.reaches: ${OWN} is local here: name one of another machine, such as the router's`,
  )
  await expect(found('198.51.100.255')).rejects.toThrow('fabric.reaches: 198.51.100.255 is broadcast here')
})

it('is none for an address behind a router, which would be reached over whatever is left', async () => {
  await expect(found('203.0.113.10')).rejects.toThrow('fabric.reaches: 203.0.113.10 is behind a router')
  await expect(found('2001:db8:c::10')).rejects.toThrow('fabric.reaches: 2001:db8:c::10 is behind a router')
  await ip('link set dev fab0 down')
  await ip(`route add default via ${lab.hostAddress}`)
  await expect(found(FABRIC.gateway)).rejects.toThrow(`fabric.reaches: ${FABRIC.gateway} is behind a router`)
})

it('is none for an address that no route leads to', async () => {
  await ip('route delete default')
  await expect(found(FABRIC.gateway)).rejects.toThrow(
    `fabric.reaches: no interface is in a network with ${FABRIC.gateway}: RTNETLINK answers: Network is unreachable`,
  )
})
