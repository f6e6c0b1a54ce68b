import type { Listener, LoadBalancer, Member, Pool } from '@spout/model'
import { describe, expect, it } from 'vitest'
import { openstackCommands, spoutCommands } from './commands.ts'

const member = { name: 'web-1', address: '10.0.0.11', port: 8080, weight: 1, backup: false } as Member
const pool = {
  ...{ id: 'p1', name: 'web', protocol: 'http', algorithm: 'least-connections' },
  members: [member, { ...member, name: '', id: 'm2', address: '10.0.0.12', weight: 3, backup: true }],
  monitor: { type: 'http', intervalMs: 1500, timeoutMs: 800, rise: 2, fall: 3, http: { path: '/health' } },
} as unknown as Pool
const listener = {
  ...{ id: 'l1', name: 'site', protocol: 'https', port: 443, defaultPoolId: 'p1', connectionLimit: 500 },
  ...{ allowedCidrs: ['203.0.113.0/24'], tls: { certificateIds: ['c1'] }, routes: [] },
} as unknown as Listener
const shop: Pick<LoadBalancer, 'id' | 'name' | 'vips' | 'listeners' | 'pools'> = {
  ...{ id: 'lb', name: "it's mine; rm -rf", listeners: [listener], pools: [pool] },
  vips: [{ addressId: 'a', address: '198.51.100.7', scope: 'fabric', poolId: 'x', networkId: null, subnetId: null }],
}

describe('commands', () => {
  it('prints what spout would be told', () => {
    expect(spoutCommands(shop, new Map([['x', 'public']])).split('\n')).toEqual([
      `spout lb create 'it'\\''s mine; rm -rf' --pool public`,
      `spout pool create 'it'\\''s mine; rm -rf' web --protocol http --algorithm least-connections --check http --check-path /health`,
      `spout member create 'it'\\''s mine; rm -rf' web web-1 --address 10.0.0.11 --port 8080`,
      `spout member create 'it'\\''s mine; rm -rf' web m2 --address 10.0.0.12 --port 8080 --weight 3 --backup`,
      `spout listener create 'it'\\''s mine; rm -rf' site --protocol https --port 443 --default-pool web --certificates c1 --connection-limit 500 --allowed-cidrs 203.0.113.0/24`,
    ])
  })

  it('prints what openstack would be told', () => {
    expect(openstackCommands({ ...shop, name: 'shop' }).split('\n')).toEqual([
      'openstack loadbalancer create --wait --name shop --vip-network-id x',
      'openstack loadbalancer listener create --wait --name site --protocol TERMINATED_HTTPS --protocol-port 443 --default-tls-container-ref c1 --connection-limit 500 shop',
      'openstack loadbalancer pool create --wait --name web --protocol HTTP --lb-algorithm LEAST_CONNECTIONS --listener site',
      'openstack loadbalancer member create --wait --name web-1 --address 10.0.0.11 --protocol-port 8080 web',
      'openstack loadbalancer member create --wait --address 10.0.0.12 --protocol-port 8080 --weight 3 web',
      'openstack loadbalancer healthmonitor create --wait --type HTTP --delay 2 --timeout 1 --max-retries 2 --max-retries-down 3 --url-path /health web',
    ])
  })

  it('says that routes are missing', () => {
    const routed = { ...shop, listeners: [{ ...listener, routes: [{}, {}] } as unknown as Listener] }
    const note = '# The listener of port 443 has 2 routes, which no command here makes: see the YAML.'
    expect(spoutCommands(routed).split('\n').at(-1)).toBe(note)
    expect(openstackCommands(routed).split('\n')[2]).toBe(note)
  })

  it('says which listeners Octavia has no word for', () => {
    const metrics = { ...listener, protocol: 'metrics', port: 9100 } as Listener
    expect(openstackCommands({ ...shop, listeners: [metrics], pools: [] }).split('\n')[1]).toBe(
      '# The Octavia API has no word for protocol metrics (port 9100).',
    )
  })
})
