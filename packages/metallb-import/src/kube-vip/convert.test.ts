import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { addressPoolSpec, bgpPeerSpec, nodeGroupSpec } from '@spout/custom-resources'
import { describe, expect, it } from 'vitest'
import { readManifests } from '../manifest.ts'
import { conversionYaml } from '../print.ts'
import { convertKubeVip } from './convert.ts'

const DIRECTORY = path.join(import.meta.dirname, 'testdata')
const SPECS: Readonly<Record<string, { parse(spec: unknown): unknown }>> = {
  AddressPool: addressPoolSpec,
  NodeGroup: nodeGroupSpec,
  BgpPeer: bgpPeerSpec,
}
const convert = (text: string, file = 'in.yaml') => convertKubeVip(readManifests(file, text))
const pod = (env: Readonly<Record<string, string>>) =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'kube-vip' } },
    spec: { containers: [{ env: Object.entries(env).map(([name, value]) => ({ name, value })) }] },
  })
const BGP = { svc_enable: 'true', bgp_enable: 'true', bgp_as: '64512' }
const map = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kubevip}\ndata: ${data}\n`

it.each(globSync('*.in.yaml', { cwd: DIRECTORY }).sort())('%s', async (file) => {
  const conversion = convert(readFileSync(path.join(DIRECTORY, file), 'utf8'), file)
  for (const { object } of conversion.objects) SPECS[object.kind]?.parse(object.spec)
  const text = conversionYaml(conversion, 'kube-vip')
  // The password of a router stays where it is.
  expect(text).not.toContain('secret:true')
  await expect(text).toMatchFileSnapshot(`testdata/${file.replace('.in.', '.out.')}`)
})

it('static pods of several machines make one group', () => {
  const one = pod({ svc_enable: 'true', vip_arp: 'true' })
  expect(convert(`${one}\n---\n${one}`).objects.map(({ object }) => object.metadata.name)).toEqual(['kube-vip-arp'])
})

it('one that serves the API server alone makes none, and says why', () => {
  const { objects, notes } = convert(pod({ cp_enable: 'true', vip_arp: 'true', address: '192.0.2.1' }))
  expect(objects).toEqual([])
  expect(notes.map(({ field }) => field)).toEqual(['svc_enable', 'cp_enable'])
})

it('a single router is read, too', () => {
  const { objects } = convert(pod({ ...BGP, bgp_peeraddress: '192.0.2.1', bgp_peeras: '64600', bgp_peerpass: 'hush' }))
  expect(objects[1]?.object.spec).toMatchObject({ peerAddress: '192.0.2.1', peerASN: 64_600 })
  expect(conversionYaml(convert(pod({ ...BGP, bgp_peerpass: 'hush' })), 'kube-vip')).not.toContain('hush')
})

describe('what kube-vip would not accept', () => {
  it.each([
    [pod({ ...BGP, bgp_as: 'x' }), 'in.yaml, document 1 (Pod kube-vip): bgp_as: x is no AS number'],
    [pod({ ...BGP, bgp_as: '0' }), 'bgp_as: 0 is no AS number'],
    [pod({ ...BGP, bgp_peers: '192.0.2.1' }), 'bgp_peers: an entry is not like 192.0.2.1:64512'],
    [pod({ ...BGP, bgp_peers: 'router:64600' }), 'bgp_peers: '],
    [map('{range-global: 192.0.2.9-192.0.2.1}'), 'in.yaml, document 1 (ConfigMap kubevip): data.range-global: '],
    [map('{cidr-global: 010.0.0.0/8}'), 'data.cidr-global: '],
    [`${map('{cidr-a: 192.0.2.0/30}')}---\n${map('{cidr-a: 192.0.2.8/30}')}`, 'there is a pool kube-vip-a already'],
  ])('%s is refused', (text, message) => {
    expect(() => convert(text)).toThrow(message)
  })
})
