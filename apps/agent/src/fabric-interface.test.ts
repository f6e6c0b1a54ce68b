import { networkInterfaces } from 'node:os'
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
  await expect(findFabricInterface(settings({ interface: '' }))).rejects.toThrow('fabric.interface: is empty')
  const nobody = settings({ interface: '', address: '192.0.2.77' })
  await expect(findFabricInterface(nobody)).rejects.toThrow('fabric.address: no interface has 192.0.2.77')
})
