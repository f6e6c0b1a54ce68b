import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NGINX_PREFIX } from './ingress-nginx/registry.ts'
import { type IngressBed, openIngressBed, type RunningIngresses } from './testing/ingress-bed.fixture.ts'
import { rule } from './testing/objects.ts'

let bed: IngressBed
let running: RunningIngresses
beforeAll(async () => {
  bed = await openIngressBed()
  await bed.service('web', ['10.128.0.1'])
  running = await bed.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.close())

const SHA = '{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk='
const APR1 = '$apr1$abcd$a4TJDqmci1Rx5yACpaKUk.'

const secret = (data: Readonly<Record<string, string>>) =>
  bed.api.apply('/api/v1/namespaces/shop/secrets/staff', {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'staff', namespace: 'shop' }, type: 'Opaque' },
    data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')])),
  })
const action = () => bed.documents()[0]?.listeners[0]?.routes[0]?.action
const asks = () => {
  const now = action()
  return now?.type === 'forward' ? now.basicAuthentication : undefined
}
const isClosed = () => {
  const now = action()
  return now?.type === 'respond' && now.code === 503
}
const told = (text: string) => running.events.some(({ event }) => event.note.includes(text))

test('the users of a Secret may go on; it is rotated, and closes the paths when it is unusable or gone', async () => {
  await bed.api.create(bed.path('', 'shop').slice(0, -1), {
    metadata: {
      ...{ name: 'one', namespace: 'shop' },
      annotations: {
        [`${NGINX_PREFIX}auth-type`]: 'basic',
        [`${NGINX_PREFIX}auth-secret`]: 'staff',
        [`${NGINX_PREFIX}auth-realm`]: 'Staff "only"',
      },
    },
    spec: { rules: [rule('a.example / Prefix web')] },
  } as object)
  await bed.until('closed paths', isClosed)
  await bed.until('the reason', () => told('There is no Secret shop/staff'))

  await secret({ auth: `joe:${SHA}\n` })
  await bed.until('a list of users', () => asks() !== undefined)
  const { usersId, realm } = asks()!
  expect(realm).toBe('Staff "only"')
  const listOf = () => bed.certificates().find(({ id }) => id === usersId)
  expect(listOf()).toMatchObject({ name: 'Users/shop/staff', subject: '1 user', chain: '' })
  // Sealed where it is stored, and nowhere else.
  expect(JSON.stringify([bed.certificates(), bed.documents(), running.events])).not.toContain(SHA)

  const before = listOf()!.contentId
  await secret({ auth: `joe:${APR1}\nann:${SHA}\n` })
  await bed.until('rotation', () => listOf()?.contentId !== before)
  expect(listOf()).toMatchObject({ subject: '2 users' })
  expect(asks()?.usersId).toBe(usersId)

  await secret({ auth: `joe:${APR1}\nann:secret-text\n` })
  await bed.until('closed paths', isClosed)
  await bed.until('the line', () => told('line 2: its hash is none of'))
  expect(JSON.stringify(running.events)).not.toContain('secret-text')

  await secret({ auth: `ann:${SHA}\n` })
  await bed.until('users again', () => asks() !== undefined)
  await bed.api.delete('/api/v1/namespaces/shop/secrets/staff')
  await bed.until('closed paths', isClosed)
  await bed.remove('one')
  await bed.until('nothing', () => bed.certificates().length === 0)
})
