import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { addressPoolSpec, nodeGroupSpec } from '@spout/custom-resources'
import { expect, it } from 'vitest'
import { readManifests } from '../manifest.ts'
import { conversionYaml } from '../print.ts'
import { convertKeepalivedOperator } from './convert.ts'

const DIRECTORY = path.join(import.meta.dirname, 'testdata')
const SPECS: Readonly<Record<string, { parse(spec: unknown): unknown }>> = {
  AddressPool: addressPoolSpec,
  NodeGroup: nodeGroupSpec,
}
const convert = (text: string, file = 'in.yaml') => convertKeepalivedOperator(readManifests(file, text))
const group = (spec: string, more = '') =>
  `apiVersion: redhatcop.redhat.io/v1alpha1\nkind: KeepalivedGroup\nmetadata: {name: x, namespace: a}\nspec: ${spec}\n${more}`

it.each(globSync('*.in.yaml', { cwd: DIRECTORY }).sort())('%s', async (file) => {
  const conversion = convert(readFileSync(path.join(DIRECTORY, file), 'utf8'), file)
  for (const { object } of conversion.objects) SPECS[object.kind]?.parse(object.spec)
  const text = conversionYaml(conversion, 'keepalived-operator')
  await expect(text).toMatchFileSnapshot(`testdata/${file.replace('.in.', '.out.')}`)
})

it('says of every field what becomes of it, also of unknown ones', () => {
  const [one] = convert(group('{interface: ens3, fresh: 1, "od\\nd": 2, unicastEnabled: false}')).objects
  expect(one?.notes.map(({ field }) => field)).toEqual(['spec.fresh', 'spec.od?d'])
})

it('gives no shard an id that the operator uses, so that both run while Services move', () => {
  const [one] = convert(group('{blacklistRouterIDs: [9, 1]}', 'status: {routerIDs: {a/b: 7, a/c: 1}}\n')).objects
  expect(one?.object.spec).toEqual({ announcer: 'vrrp', vrrp: { excludedRouterIds: [1, 7, 9] } })
})

it.each([
  ['{interface: ens3}', { interface: 'ens3' }, []],
  ["{interfaceFromIP: '2001:db8::01'}", { reaches: '2001:db8::1' }, ['spec.interfaceFromIP']],
  ['{interface: ens3, interfaceFromIP: 10.0.0.1}', { reaches: '10.0.0.1' }, ['spec.interfaceFromIP', 'spec.interface']],
  ['{interface: ens3, interfaceFromIP: router}', { interface: 'ens3' }, ['spec.interfaceFromIP']],
  ['{interface: "a b"}', undefined, ['spec.interface']],
])('keeps the interface of %s', (spec, fabric, noted) => {
  const [one] = convert(group(spec)).objects
  expect(one?.object.spec).toEqual({ announcer: 'vrrp', ...(fabric && { fabric }) })
  expect(one?.notes.map(({ field }) => field)).toEqual(noted)
})

it('keeps the labels that select nodes', () => {
  const [one] = convert(group("{nodeSelector: {zone: edge, role: ''}}")).objects
  expect(one?.object.spec).toEqual({
    announcer: 'vrrp',
    nodeSelector: { matchLabels: { zone: 'edge', role: '' } },
  })
})

it('reports everything that cannot be read, by file, document and field', () => {
  expect(() =>
    convert(`${group('{blacklistRouterIDs: [0]}')}---\n${group('{interface: 1}').replace('x,', 'other,')}`),
  ).toThrow(
    /^in\.yaml, document 1 \(KeepalivedGroup x\): spec\.blacklistRouterIDs\.0: .*\nin\.yaml, document 2 \(KeepalivedGroup other\): spec\.interface: /,
  )
  expect(() => convert(`${group('{}')}---\n${group('{}')}`)).toThrow(
    'document 2 (KeepalivedGroup x): metadata.name: is that',
  )
})

it('is not led to say more than it does by a hostile text', () => {
  const text = conversionYaml(convert(group('{interface: "x\\n---\\nkind: Evil"}')), 'keepalived-operator')
  expect(text.split('\n').filter((line) => line === '---' || line.startsWith('kind:'))).toEqual([
    '---',
    'kind: NodeGroup',
  ])
})
