import { expect, test } from 'vitest'
import { listenerTls } from '../load-balancers/listener.ts'

const parse = (separateHosts: unknown) =>
  listenerTls.safeParse({ certificateIds: ['00000000-0000-4000-8000-000000000001'], separateHosts })

test('hosts that are kept apart are host names or wildcards, in lower case, each once, and not too many', () => {
  expect(parse(['A.example', '*.b.example']).data?.separateHosts).toEqual(['a.example', '*.b.example'])
  const name = (at: number) => `${'x'.repeat(50)}${at}.example`
  for (const wrong of [
    [],
    ['a.example', 'A.example'],
    ['*'],
    ['*.*.example'],
    ['a example'],
    ['a,b'],
    ['a.example\n'],
    Array.from({ length: 200 }, (_, at) => name(at)),
  ])
    expect(parse(wrong).success, String(wrong).slice(0, 40)).toBe(false)
})
