import { describe, expect, test } from 'vitest'
import { rowsOf } from '../wire/field.ts'
import { boolean, ipAddress, list, text, uuid } from '../wire/wire-type.ts'
import { MAX_PAGE, parseListQuery, printPage, selectPage } from './list-query.ts'

interface Thing {
  readonly id: string
  readonly name: string
  readonly size: number | null
  readonly on: boolean
  readonly address: string
  readonly tags: readonly string[]
  readonly parent: string
}

const row = rowsOf<null, Thing>()
const fields = [
  row('id', uuid, { since: 0, read: ({ id }) => id }),
  row('name', text(), { since: 0, read: ({ name }) => name }),
  row('size', text(), { since: 0, read: ({ size }) => size }),
  row('on', boolean, { since: 0, read: ({ on }) => on }),
  row('address', ipAddress, { since: 0, read: ({ address }) => address }),
  row('created_at', text(), { since: 0, read: ({ id }) => id }),
  row('tags', list(text()), { since: 5, read: ({ tags }) => tags }),
  row('parent_id', uuid, { since: 0, asked: ({ parent }) => [parent] }),
]

const things: readonly Thing[] = [
  { id: 'a', name: 'web', size: 10, on: true, address: 'fd00::1', tags: ['red', 'big'], parent: 'p' },
  { id: 'b', name: 'web', size: 9, on: false, address: '10.0.0.2', tags: ['red'], parent: 'p' },
  { id: 'c', name: 'mail', size: null, on: true, address: '10.0.0.3', tags: [], parent: 'q' },
  { id: 'd', name: 'dns', size: 100, on: true, address: '10.0.0.4', tags: ['big'], parent: 'q' },
]

const ids = (query: string) =>
  selectPage(fields, things, parseListQuery(new URLSearchParams(query)))
    .items.map(({ id }) => id)
    .join('')

test.each([
  ['', 'abcd'],
  ['name=web', 'ab'],
  ['name=web&on=true', 'a'],
  ['on=False', 'b'],
  ['on=1', 'acd'],
  ['size=9', 'b'],
  ['name=nobody', ''],
  ['address=FD00:0::1', 'a'],
  ['parent_id=q', 'cd'],
  ['tags=red', 'ab'],
  ['tags=red,big', 'a'],
  ['tags=red&tags=big', 'a'],
  ['tags-any=red,big', 'abd'],
  ['not-tags=red,big', 'bcd'],
  ['not-tags-any=red,big', 'c'],
  ['tags-any=big&name=dns', 'd'],
  ['sort=name', 'dcab'],
  ['sort=name:desc,id:desc', 'bacd'],
  ['sort=size', 'cbad'],
  ['sort_key=name,id&sort_dir=desc', 'abcd'],
  ['sort_key=name&sort_dir=asc', 'dcab'],
  ['limit=2', 'ab'],
  ['limit=0', 'abcd'],
  ['limit=infinite', 'abcd'],
  ['limit=2&marker=b', 'cd'],
  ['limit=1&marker=c&page_reverse=True', 'b'],
  ['sort=name&limit=2&marker=c', 'ab'],
  // The marker need not match the filters.
  ['name=web&marker=a', 'b'],
  ['marker=d', ''],
])('%s', (query, expected) => {
  expect(ids(query)).toBe(expected)
})

describe('links', () => {
  const linksOf = (query: string) =>
    printPage('things', fields, things, parseListQuery(new URLSearchParams(query)), 'http://h/things').things_links

  test('next while the page is full, previous once there was a marker; filters and order go along', () => {
    expect(linksOf('limit=2&name=web')).toEqual([{ rel: 'next', href: 'http://h/things?limit=2&name=web&marker=b' }])
    expect(linksOf('limit=1&marker=a&sort=id&tags=red&fields=id')).toEqual([
      {
        rel: 'previous',
        href: 'http://h/things?limit=1&sort=id&tags=red&fields=id&marker=b&page_reverse=True',
      },
      { rel: 'next', href: 'http://h/things?limit=1&sort=id&tags=red&fields=id&marker=b' },
    ])
    expect(linksOf('')).toEqual([])
    expect(linksOf('limit=1&marker=d')).toEqual([])
  })

  test('following them shows everything once', () => {
    const seen: string[] = []
    let query = 'limit=1&sort=name:desc'
    for (let pages = 0; pages < 10; pages++) {
      const page = selectPage(fields, things, parseListQuery(new URLSearchParams(query)))
      seen.push(...page.items.map(({ id }) => id))
      const next = page.links.find(({ rel }) => rel === 'next')
      if (next === undefined) break
      query = next.query
    }
    expect(seen.join('')).toBe('abcd')
  })
})

test('pages have a largest size', () => {
  const many = Array.from({ length: MAX_PAGE + 5 }, (_, index) => ({ ...things[0]!, id: String(index) }))
  const page = selectPage(fields, many, parseListQuery(new URLSearchParams('limit=5000')))
  expect(page.items).toHaveLength(MAX_PAGE)
  expect(page.links.map(({ rel }) => rel)).toEqual(['next'])
})

test('a load balancer is also found by its name in the data model, as openstacksdk requests it', () => {
  const { filters } = parseListQuery(new URLSearchParams('load_balancer_id=a&name=web'))
  expect(filters).toEqual([
    ['loadbalancer_id', 'a'],
    ['name', 'web'],
  ])
})
