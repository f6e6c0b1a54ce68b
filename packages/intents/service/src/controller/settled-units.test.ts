import type { LoadBalancer } from '@spout/model'
import { expect, test } from 'vitest'
import { service, slice } from '../testing/objects.ts'
import { SettledUnits, type UnitSight } from './settled-units.ts'

const sight: UnitSight = {
  services: [service('web', {}, { resourceVersion: '1' })],
  slices: [[slice('web', [])]],
  nodes: [],
  networks: [],
  documents: [{ id: 'lb' } as LoadBalancer],
}
const [web] = sight.services
const group = {
  heldBy: 'lb',
  request: { families: [], pools: null },
  externals: [],
  services: [
    {
      service: web!,
      request: { families: [], pools: null },
      unreachable: new Map(),
      ports: [],
      ipMode: 'VIP' as const,
      notice: null,
      externals: { wanted: [], refused: [] },
    },
  ],
}

test('a plan holds while only statuses and versions change, with the current Services', () => {
  const settled = new SettledUnits()
  expect(settled.groupsOf('u', sight)).toBeNull()
  settled.put('u', sight, [group])
  const now = { ...service('web', {}, { resourceVersion: '2' }), status: { conditions: [] } }
  const groups = settled.groupsOf('u', { ...sight, services: [now] })
  expect(groups).toMatchObject([{ heldBy: 'lb' }])
  expect(groups?.[0]?.services[0]?.service).toBe(now)
})

test.each<[string, Partial<UnitSight>]>([
  ['a spec', { services: [service('web', { externalTrafficPolicy: 'Local' }, { resourceVersion: '1' })] }],
  ['an annotation', { services: [service('web', {}, { annotations: { 'spout.dev/mode': 'node-ports' } })] }],
  ['a finalizer', { services: [service('web', {}, { finalizers: ['other'] })] }],
  ['a Service more', { services: [web!, service('other')] }],
  ['a slice', { slices: [[slice('web', [])]] }],
  ['the nodes', { nodes: [{ name: 'n', addresses: new Map() }] }],
  ['the networks', { networks: [{ id: 'n', name: 'n', families: [4] }] }],
  ['the document', { documents: [{ id: 'lb' } as LoadBalancer] }],
])('it does not hold with another: %s', (_, other) => {
  const settled = new SettledUnits()
  settled.put('u', sight, [group])
  expect(settled.groupsOf('u', { ...sight, ...other })).toBeNull()
})
