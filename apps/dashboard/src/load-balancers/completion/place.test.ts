import { describe, expect, it } from 'vitest'
import { placeAt } from './place.ts'
import { atCursor } from './testing/cursor.ts'

const at = (marked: string) => placeAt(...atCursor(marked))

describe('placeAt', () => {
  it('knows the path by the columns', () => {
    expect(at('na^')).toMatchObject({ path: [], key: null, word: 'na', column: 0 })
    expect(at('pools:\n  - name: web\n    members:\n      - address: 10.0.0.1\n        po^')?.path).toEqual([
      ...['pools', null],
      ...['members', null],
    ])
    expect(at('pools:\n  - name: web\n    members: []\n    mo^')?.path).toEqual(['pools', null])
    expect(at('pools:\n  - name: web\n  - ^')?.path).toEqual(['pools', null])
    expect(at('pools:\n  - name: web\nlist^')?.path).toEqual([])
    expect(at('pools:\n- name: web\n  mon^')?.path).toEqual(['pools', null])
    expect(at('pools:\n- ^')?.path).toEqual(['pools', null])
    expect(at('pools:\n  ^')?.path).toEqual(['pools'])
  })

  it('tells a value from a field', () => {
    expect(at('protocol: ^')).toMatchObject({ key: 'protocol', word: '' })
    expect(at('protocol: ht^')).toMatchObject({ key: 'protocol', word: 'ht' })
    expect(at('protocol:^')).toBeNull()
    expect(at('tls:\n  minVersion: 1.^')).toMatchObject({ path: ['tls'], key: 'minVersion', word: '1.' })
    expect(at('alpn:\n  - h^')).toMatchObject({ path: ['alpn', null], key: null, word: 'h' })
  })

  it('replaces the whole word, also what stands behind the cursor', () => {
    expect(at('pro^tocol: http')).toMatchObject({ word: 'pro', from: 0, to: 8, hasColon: true })
    expect(at('pro^')).toMatchObject({ from: 0, to: 3, hasColon: false })
    expect(at('a: 1\nprotocol: ht^tp\nb: 2')).toMatchObject({ from: 15, to: 19 })
  })

  it('knows what stands beside, above and below, and nothing of other objects', () => {
    const marked = [
      'pools:',
      '  - name: api',
      '    members:',
      '      - address: 10.0.0.1',
      '  - name: web # the shop',
      '    ^',
      '    monitor:',
      '      type: http',
      '    protocol: http',
      '  - algorithm: source-ip',
      'name: shop',
    ].join('\n')
    const place = at(marked)
    expect(place?.path).toEqual(['pools', null])
    expect([...(place?.beside ?? [])]).toEqual([
      ['name', 'web'],
      ['monitor', ''],
      ['protocol', 'http'],
    ])
    expect([...(at('pools:\n  - ^\n    name: web')?.beside.keys() ?? [])]).toEqual(['name'])
  })

  it('is null in comments, in quotes, in brackets and in texts of several lines', () => {
    for (const marked of ['# na^', 'name: "we^', 'alpn: [h^', 'description: |\n  na^', 'a: b # c^', 'name: two words^'])
      expect([marked, at(marked)]).toEqual([marked, null])
    expect(at('description: |\n  text\n\n  more\nna^')).toMatchObject({ path: [], word: 'na' })
  })
})
