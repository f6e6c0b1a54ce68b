import { afterAll, beforeAll, expect, it } from 'vitest'
import { Arrangement } from '../testing/arrangement.ts'
import { LabNode } from '../testing/lab-node.ts'
import { FabricAddress } from './fabric-address.ts'

let lab: Arrangement
let node: LabNode

beforeAll(async () => {
  lab = await Arrangement.create()
  node = await LabNode.start(lab, 'node1')
})

afterAll(async () => {
  await node?.die()
  await lab?.[Symbol.asyncDispose]()
})

it("is the node's own IPv4 address before IPv6, never a VIP, and is looked for only after a change", async () => {
  const ip = (words: string) => lab.run('node1', `ip address ${words} dev fab0`)
  const fabric = new FabricAddress(node)
  expect(await fabric.read()).toBe('10.9.0.1')
  expect(await fabric.read()).toBe('10.9.0.1')
  expect(fabric.counters).toEqual({ looks: 1 })

  await ip('delete 10.9.0.1/24')
  expect(await fabric.read()).toBe('fd09::1')
  await ip('add 10.9.0.200/32')
  expect(await fabric.read()).toBe('fd09::1')
  await ip('delete fd09::1/64')
  expect(await fabric.read()).toBeNull()
  await ip('add 10.9.0.7/24')
  expect(await fabric.read()).toBe('10.9.0.7')
  const { looks } = fabric.counters
  expect(await fabric.read()).toBe('10.9.0.7')
  expect(fabric.counters).toEqual({ looks })
})

it('is none while the interface is gone', async () => {
  const link = (words: string) => lab.run('node1', `ip link set dev ${words}`)
  const fabric = new FabricAddress(node)
  expect(await fabric.read()).not.toBeNull()
  await link('fab0 down')
  await link('fab0 name gone0')
  expect(await fabric.read()).toBeNull()
  await link('gone0 name fab0')
  await link('fab0 up')
  expect(await fabric.read()).not.toBeNull()
})
