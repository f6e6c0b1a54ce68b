import { expect, test } from 'vitest'
import { trimService } from '../kubernetes/trim-service.ts'
import { ANNOTATIONS } from '../names.ts'
import { service } from '../testing/objects.ts'
import { unknownAnnotation } from './unknown-annotation.ts'

const saying = (annotations: Readonly<Record<string, string>>) => service('web', {}, { annotations })

test('a mistyped annotation is named, with the one that was meant', () => {
  expect(unknownAnnotation(saying({ 'spout.dev/monitr': 'tcp' }))).toEqual({
    reason: 'UnknownAnnotation',
    field: 'metadata.annotations[spout.dev/monitr]',
    message: 'spout.dev/monitr is not known and does nothing. Did you mean spout.dev/monitor?',
  })
  expect(unknownAnnotation(saying({ 'spout.dev/load-balancer-ip': '192.0.2.1' }))?.message).toContain(
    'Did you mean spout.dev/load-balancer-ips?',
  )
})

test('its name is kept in the trimmed Service, its value is not', () => {
  const kept = trimService({ ...saying({ 'spout.dev/monitr': 'x'.repeat(10_000), 'other/thing': 'y' }) })
  const balanced = { ...kept, spec: { ...kept.spec, type: 'LoadBalancer' as const } }
  expect(unknownAnnotation(balanced)?.field).toBe('metadata.annotations[spout.dev/monitr]')
  expect(JSON.stringify(kept).length).toBeLessThan(1000)
})

test('one that is close to none gets no suggestion', () => {
  expect(unknownAnnotation(saying({ 'spout.dev/make-coffee-please': 'yes' }))?.message).toBe(
    'spout.dev/make-coffee-please is not known and does nothing.',
  )
})

test('known annotations, and those of others, are not reported', () => {
  const known = Object.fromEntries(Object.values(ANNOTATIONS).flatMap((names) => names.map((name) => [name, 'x'])))
  expect(unknownAnnotation(saying({ ...known, 'metallb.io/strange': 'x', 'spout.developers/x': 'y' }))).toBeNull()
  expect(unknownAnnotation(service('web'))).toBeNull()
})

test('hostile names are shown harmless and bounded', () => {
  const { field = '', message = '' } = unknownAnnotation(saying({ [`spout.dev/${'\n'.repeat(5000)}`]: '' })) ?? {}
  expect(`${field}${message}`).not.toMatch(/[^\x20-\x7e]/)
  expect(message.length).toBeLessThan(200)
})
