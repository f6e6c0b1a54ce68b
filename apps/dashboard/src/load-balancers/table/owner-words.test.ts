import { expect, it } from 'vitest'
import { ownerText } from './owner-words.ts'

const CLUSTER = '4f1c2a9e-6b1d-4c57-9a56-1f3f7a0c6d21'
const owner = { kind: 'service', name: 'shop/web', cluster: CLUSTER } as const

it('says kind, namespace, name and cluster of the object that made it', () => {
  expect(ownerText(owner)).toBe('Service shop/web in 4f1c2a9e')
  expect(ownerText(owner, (whole) => whole)).toBe(`Service shop/web in ${CLUSTER}`)
  expect(ownerText({ ...owner, cluster: 'prod-1' })).toBe('Service shop/web in prod-1')
  expect(ownerText({ ...owner, cluster: null })).toBe('Service shop/web')
})

it('says nothing of what no object made', () => {
  expect(ownerText(null)).toBeNull()
  expect(ownerText({ kind: 'octavia', name: null, cluster: null })).toBeNull()
})
