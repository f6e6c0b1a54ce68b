import { networkInterfaces } from 'node:os'
import { loadConfig } from '@spout/runtime/config'
import { expect, test } from 'vitest'
import { agentConfig } from './config.ts'
import { findFabricInterface } from './fabric-interface.ts'

const settings = (fabric: object) => agentConfig.parse({ fabric }).fabric

test('an interface that is named is taken; else the one that has the address', async () => {
  expect(await findFabricInterface(settings({}))).toBe('eth0')
  expect(await findFabricInterface(settings({ interface: 'bond0', address: '127.0.0.1' }))).toBe('bond0')
  const loopback = Object.entries(networkInterfaces()).find(([, all]) =>
    all?.some(({ address }) => address === '127.0.0.1'),
  )
  expect(await findFabricInterface(settings({ interface: '', address: '127.0.0.1' }))).toBe(loopback?.[0])
})

test('an interface is never guessed', async () => {
  await expect(findFabricInterface(settings({ interface: '' }))).rejects.toThrow(
    'fabric.interface: is empty, and so are fabric.reaches and fabric.address',
  )
  const nobody = settings({ interface: '', address: '192.0.2.77' })
  await expect(findFabricInterface(nobody)).rejects.toThrow('fabric.address: no interface has 192.0.2.77')
})

test.each([
  ['{reaches: 192.0.2.1}', 'fabric.reaches: is not used while fabric.interface names the interface'],
  ['{interface: bond0, reaches: 192.0.2.1}', 'fabric.reaches: is not used while fabric.interface names the interface'],
  ['{interface: "", reaches: router}', 'fabric.reaches: "router"'],
  ['{interface: "", reaches: 192.0.2.0/24}', 'fabric.reaches: "192.0.2.0/24"'],
  ['{interface: "", reaches: 127.0.0.1}', 'fabric.reaches: 127.0.0.1 is not allowed: loopback'],
  ['{interface: "", reaches: "fe80::1"}', 'fabric.reaches: fe80::1 is not allowed'],
])('%s is refused before anything starts, with the field and the reason', (fabric, words) => {
  const load = (text: string) => loadConfig(agentConfig, { file: { name: 'agent.yaml', text } })
  expect(load('fabric: {interface: "", reaches: "2001:db8::01"}').config.fabric.reaches).toBe('2001:db8::1')
  expect(() => load(`fabric: ${fabric}`)).toThrow(words)
})
