import type { CheckSpec } from '@spout/model'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ADDRESSES, CheckLab, DOMAIN } from '../testing/checks/check-lab.ts'
import { NAME, PORTS } from '../testing/checks/ports.ts'
import { httpsCheck } from './https.ts'

let lab: CheckLab
let check: ReturnType<typeof httpsCheck>

beforeAll(async () => {
  lab = await CheckLab.create()
  check = httpsCheck(lab.helper, lab.place)
})
afterAll(() => lab?.end())

const asked = { method: 'HEAD', path: '/up', version: '1.1', host: NAME } as const
const NOT_FOUND = 'status 404, expected 200-299'

it.each<[string, Partial<NonNullable<CheckSpec['http']>>, string | null]>([
  ['all of it', {}, null],
  ['its name with a final dot', { host: `${NAME}.` }, NOT_FOUND],
  ['another path', { path: '/' }, NOT_FOUND],
  ['another method', { method: 'GET' }, NOT_FOUND],
  ['HTTP/1.0', { version: '1.0' }, NOT_FOUND],
  ['no name', { host: null }, NOT_FOUND],
  ['its address for a name', { host: ADDRESSES[4].host }, NOT_FOUND],
  ['another code', { expectedCodes: [{ first: 201, last: 201 }] }, 'status 200, expected 201'],
  ['another name', { host: 'other.example' }, 'closed without an answer'],
])('a server that wants a name, a host, a method, a path and a version is asked for %s', async (_, change, reason) => {
  const http = { ...asked, expectedCodes: [{ first: 200, last: 299 }], ...change }
  const spec: CheckSpec = { type: 'https', intervalMs: 5_000, timeoutMs: 5_000, rise: 1, fall: 1, http }
  for (const address of [ADDRESSES[4].host, ADDRESSES[6].host])
    expect(await check.run({ domain: DOMAIN, address, port: PORTS.named, spec })).toMatchObject({ reason })
})
