import { expect, test } from 'vitest'
import { pageLink, withPage } from './page-link.ts'

const ID = '5a3c'

test.each(['https://spout.example/ui', 'https://spout.example/ui/'])('a load balancer on the page at %s', (url) =>
  expect(pageLink(url)?.(ID)).toBe('https://spout.example/ui/load-balancers/5a3c'),
)

test('without the setting there is no link, and messages are as they were', () => {
  expect(pageLink('')).toBeNull()
  expect(withPage('The nodes serve it.', null)).toBe('The nodes serve it.')
})

test('a link is whole and last, however long the message is', () => {
  const page = pageLink('https://spout.example/ui/')?.(ID) ?? null
  expect(withPage('The nodes serve it.', page)).toBe(`The nodes serve it. ${page}`)
  expect(withPage('', page)).toBe(page)
  const long = withPage('x'.repeat(5000), page)
  expect([long.length, long.endsWith(` ${page}`)]).toEqual([1000, true])
})
