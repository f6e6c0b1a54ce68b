import { loadConfig } from '@spout/runtime/config'
import { expect, it } from 'vitest'
import { agentConfig } from './config.ts'

const RIGHT = `
local:
  nodes: [192.0.2.11, 192.0.2.12, 192.0.2.13]
  loadBalancers:
    api-server:
      address: 192.0.2.10
      members: [192.0.2.11, 192.0.2.12, 192.0.2.13]
`

const load = (text: string) => loadConfig(agentConfig, { file: { name: 'agent.yaml', text } }).config

it('has defaults for the API server of Kubernetes', () => {
  const { local, server } = load(RIGHT)
  expect(server.url).toBe('')
  expect(local).toMatchObject({ routerId: 255, profile: 'default', links: ['100.127.16.0/30'] })
  expect(local.loadBalancers['api-server']).toMatchObject({
    port: 6443,
    check: { type: 'https', path: '/readyz', intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 },
  })
  expect(load('log: {level: warn}').local.loadBalancers).toEqual({})
})

it('asks for the nodes', () => {
  const nameless = RIGHT.replace(/^ {2}nodes.*$/m, '')
  expect(() => load(nameless)).toThrow('default: local.nodes: is empty: name the fabric address of each node')
})

it.each([
  ['address: 192.0.2.10', 'addres: 192.0.2.10', 'local.loadBalancers.api-server.address: Invalid input'],
  ['address: 192.0.2.10', 'address: 192.0.2.010', 'local.loadBalancers.api-server.address: "192.0.2.010"'],
  [
    'address: 192.0.2.10',
    'address: 127.0.0.1',
    'local.loadBalancers.api-server.address: 127.0.0.1 is not allowed: loopback',
  ],
  [
    'address: 192.0.2.10',
    'address: 192.0.2.11',
    "local.loadBalancers.api-server.address: 192.0.2.11 is a node's own address",
  ],
  ['members: [192.0.2.11, 192.0.2.12, 192.0.2.13]', 'members: []', 'local.loadBalancers.api-server.members: Too small'],
  ['address: 192.0.2.10', 'address: 192.0.2.10\n      port: 70000', 'local.loadBalancers.api-server.port: Too big'],
  [
    'address: 192.0.2.10',
    'address: 192.0.2.10\n      weight: 1',
    'local.loadBalancers.api-server.weight: is not a known setting',
  ],
  [
    'address: 192.0.2.10',
    'address: 192.0.2.10\n      check: {path: readyz}',
    'local.loadBalancers.api-server.check.path: must begin with /',
  ],
  ['api-server:', 'Api_Server:', 'local.loadBalancers.Api_Server: is not a name like api-server'],
  ['nodes: [192.0.2.11, ', 'nodes: [host, ', 'local.nodes.0: "host"'],
  ['nodes: [192.0.2.11, 192.0.2.12, 192.0.2.13]', 'routerId: 256', 'local.routerId: Too big'],
])('refuses %j as %j, and names the field', (right, wrong, words) => {
  expect(() => load(RIGHT.replace(right, wrong))).toThrow(words)
  expect(() => load(RIGHT.replace(right, wrong))).toThrow('agent.yaml:')
})

it('takes no more load balancers than a node reports', () => {
  const named = (count: number): string =>
    Array.from(
      { length: count },
      (_, at) => `    one-${at}: {address: 192.0.2.10, port: ${7000 + at}, members: [192.0.2.11]}\n`,
    ).join('')
  const text = (count: number): string => `${RIGHT.split('    api-server')[0]}${named(count)}`
  expect(Object.keys(load(text(16)).local.loadBalancers)).toHaveLength(16)
  expect(() => load(text(17))).toThrow('local.loadBalancers: has more than 16')
})
