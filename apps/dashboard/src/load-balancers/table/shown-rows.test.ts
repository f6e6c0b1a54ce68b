import { describe, expect, it } from 'vitest'
import { byName } from '../../api/rows-by-name.ts'
import { row } from '../../testing/rows.ts'
import { shownRows } from './shown-rows.ts'
import { tableSearch } from './table-search.ts'

const named = (name: string, more: Parameters<typeof row>[1] = {}) => row(`id-of-${name}`, { name, ...more })

const ROWS = byName([
  named('web-10'),
  named('web-9', { health: 'failed', connectionsPerSecond: 3 }),
  named('api', { health: 'degraded', vips: ['203.0.113.7', '2001:db8::7'] }),
  named('cart', { health: 'off', owner: { kind: 'service', name: 'shop/cart-svc', cluster: 'prod-1' } }),
])
const names = (search: Parameters<typeof shownRows>[1]) => shownRows(ROWS, search).rows.map(({ name }) => name)

describe('shownRows', () => {
  it('shows what needs somebody first, else by name as people count', () => {
    expect(names({})).toEqual(['web-9', 'api', 'web-10', 'cart'])
    expect(names({ sort: 'name' })).toEqual(['api', 'cart', 'web-9', 'web-10'])
    expect(names({ sort: 'name', down: true })).toEqual(['web-10', 'web-9', 'cart', 'api'])
    expect(names({ sort: 'connections', down: true })[0]).toBe('web-9')
  })

  it('finds by part of a name, an address, the object that owns it or its cluster, or the start of an id', () => {
    expect(names({ text: 'WEB' })).toEqual(['web-9', 'web-10'])
    expect(names({ text: '203.0' })).toEqual(['api'])
    expect(names({ text: '2001:DB8' })).toEqual(['api'])
    expect(names({ text: 'shop/' })).toEqual(['cart'])
    expect(names({ text: 'Prod-' })).toEqual(['cart'])
    expect(names({ text: 'id-of-cart' })).toEqual(['cart'])
    expect(names({ text: 'nothing' })).toEqual([])
  })

  it('counts each health beside the one that is asked for', () => {
    const { rows, counts } = shownRows(ROWS, { health: 'failed' })
    expect(rows).toHaveLength(1)
    expect(counts).toEqual({ ok: 1, degraded: 1, failed: 1, pending: 0, off: 1 })
  })

  it('tells by owner; what no object owns was made through the API', () => {
    expect(names({ owner: 'service' })).toEqual(['cart'])
    expect(names({ owner: 'api' })).toEqual(['web-9', 'api', 'web-10'])
  })
})

describe('tableSearch', () => {
  it('takes what is usable', () => {
    const search = { text: 12, health: 'failed', owner: 'ingress', sort: 'bytes', down: true, project: 'p' }
    expect(tableSearch(search)).toEqual({ ...search, text: '12' })
  })

  it('leaves out everything else', () => {
    expect(tableSearch({ text: '', health: 'x', owner: {}, sort: 3, down: 'yes', project: 1, more: 1 })).toEqual({})
  })
})
