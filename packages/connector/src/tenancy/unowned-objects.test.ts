import { beforeEach, expect, test } from 'vitest'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import { PROJECT } from '../objects.ts'
import { uid } from '../testing/objects.ts'
import { Tenancy, type TenantObject, type TenantObjects } from './tenancy.ts'
import { UnownedObjects } from './unowned-objects.ts'

/** Objects and namespaces that a test changes as a cluster would. */
const objects = new Map<string, TenantObject>()
const labels = new Map<string, Readonly<Record<string, string>>>()
let objectChanged: (key: string) => void
let namespaceChanged: (name: string) => void
let told: string[]
/** Of a project whose load balancers are not read yet. */
const UNREAD = { listed: false, onChange: () => () => {} } as unknown as KnownLoadBalancers

beforeEach(() => {
  objects.clear()
  labels.clear()
  told = []
  const ofCluster: TenantObjects = {
    ...{ kind: 'ingress', ready: true },
    get: (key) => objects.get(key) ?? null,
    onChange: (listener) => {
      objectChanged = listener
      return () => {}
    },
  }
  const namespaces = {
    ready: true,
    of: (name: string) => labels.get(name) ?? null,
    onChange: (listener: (name: string) => void) => {
      namespaceChanged = listener
      return () => {}
    },
  }
  const rules = [{ project: 'shop', namespaces: [], labels: { tenant: 'shop' }, isDefault: false }]
  const tenancy = new Tenancy({ objects: ofCluster, namespaces, rules })
  tenancy.join('shop', 'id-shop', UNREAD)
  new UnownedObjects(tenancy, ofCluster, ({ metadata }, { reason, message }) =>
    told.push(`${metadata.namespace}/${metadata.name} ${reason} ${message}`),
  )
})

const put = (name: string, { leaves = false, metadata = {}, number = 1 } = {}) => {
  const object = { metadata: { name, namespace: 'free', uid: uid(number), ...metadata } }
  objects.set(`free/${name}`, { object, sharesWith: [], leaves })
  objectChanged(`free/${name}`)
}
const label = (of: Readonly<Record<string, string>>) => {
  labels.set('free', of)
  namespaceChanged('free')
}
const NO_PROJECT = 'free/web NoProject Namespace "free" belongs to no project that the connector serves.'

test('is told once why nobody balances it, however often it changes', () => {
  put('web')
  expect(told).toEqual([])
  label({})
  expect(told).toEqual([NO_PROJECT])
  put('web')
  label({ other: 'label' })
  expect(told).toEqual([NO_PROJECT])
})

test('is told again when it lost its project anew, and when it was made anew', () => {
  label({})
  put('web')
  label({ tenant: 'shop' })
  label({})
  expect(told).toEqual([NO_PROJECT, NO_PROJECT])
  put('web', { number: 2 })
  expect(told).toHaveLength(3)
  objects.delete('free/web')
  objectChanged('free/web')
  expect(told).toHaveLength(3)
})

test('one of a project without a rule hears of that', () => {
  label({})
  put('web', { metadata: { annotations: { [PROJECT]: 'gone' } } })
  expect(told).toEqual([
    'free/web ProjectNotConfigured Its load balancer is of project gone, for which the connector has no rule: it stays as it is.',
  ])
})

test('one of a foreign class is told nothing, until it is of ours', () => {
  label({})
  put('web', { leaves: true })
  expect(told).toEqual([])
  put('web')
  expect(told).toEqual([NO_PROJECT])
})
