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

const PATH = '/api/v1/namespaces/shop/configmaps/headers'
const configMap = (data: Readonly<Record<string, string>>) =>
  bed.api.apply(PATH, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'headers', namespace: 'shop' }, data })
const headers = () => {
  const action = bed.documents()[0]?.listeners[0]?.routes[0]?.action
  const filter = action?.type === 'forward' ? action.filters?.find(({ type }) => type === 'response-headers') : null
  return filter?.type === 'response-headers' ? filter.set.map(({ name, value }) => `${name}: ${value}`).join() : ''
}
const told = (text: string) => running.events.some(({ event }) => event.note.includes(text))

test('headers of a ConfigMap are set once it is there, follow it, and go with it; a restart changes nothing', async () => {
  await bed.api.create(bed.path('', 'shop').slice(0, -1), {
    metadata: { name: 'one', namespace: 'shop', annotations: { [`${NGINX_PREFIX}custom-headers`]: 'headers' } },
    spec: { rules: [rule('a.example / Prefix web')] },
  } as object)
  await bed.until('the reason', () => told('There is no ConfigMap shop/headers'))
  expect(bed.documents()).toHaveLength(1)

  await configMap({ 'X-Frame-Options': 'DENY' })
  await bed.until('the header', () => headers() === 'x-frame-options: DENY')
  await configMap({ 'X-Frame-Options': 'SAMEORIGIN', Connection: 'close' })
  await bed.until('the other value', () => headers() === 'x-frame-options: SAMEORIGIN')
  await bed.until('what is not set', () => told('header Connection'))

  const before = bed.documents()
  await running.stop()
  running = await bed.start()
  await bed.until('ready', () => running.controller.ready && running.controller.counters.queued === 0)
  expect(bed.documents()).toEqual(before)

  await bed.api.delete(PATH)
  await bed.until('no header', () => headers() === '')
})
