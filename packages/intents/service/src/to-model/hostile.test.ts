import type { Service } from '@spout/kube'
import { codePoint } from '@spout/testkit/code-point'
import { byLength } from '@spout/testkit/long-tests'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planUnit, type UnitInput } from '../controller/unit-plan.ts'
import { ANNOTATIONS } from '../names.ts'
import { endpoint, service, slice, uid } from '../testing/objects.ts'
import { conditionsOf } from '../write-back/conditions.ts'
import { draftOf, groupContent } from './draft.ts'
import { ownershipOf } from './ownership.ts'
import { unitOf } from './sharing.ts'

/** Values that have passed validators elsewhere (reference S1), and shapes that break JSON readers. */
const CORPUS = [
  ...[
    '\n',
    '\r',
    '\0',
    '\t',
    '\u0085',
    '\u2028',
    ' ',
    '"',
    "'",
    '#',
    '\\',
    '{',
    '}',
    '%',
    '[',
    ']',
    ';',
    '%0a',
    '%0d%0a',
  ],
  ...['80\n  server evil 10.0.0.1:80', '$(reboot)', '`reboot`', '../../etc/passwd', '__proto__', 'constructor', ''],
  ...[
    '0x7f.1',
    '010.0.0.1',
    '127.0.0.1',
    '::ffff:127.0.0.1',
    '169.254.169.254',
    '0.0.0.0/0',
    '::/0',
    'x'.repeat(70_000),
  ],
  ...['10.1.0.1/33', 'fe80::1%eth0', '1e3', '-1', '99999999999', 'NaN', 'null', 'true', ',,,', 'a,b,c', '🙂', '\ud800'],
] as const

const hostile = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...CORPUS) },
  { weight: 1, arbitrary: fc.string({ unit: codePoint, maxLength: 64 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('198.51.100.7', 'k', 'tcp', '3s'), fc.constantFrom(...CORPUS))
      .map((both) => both.join('')),
  },
)
const annotations = fc.dictionary(fc.constantFrom<string>(...Object.values(ANNOTATIONS).flat(), '__proto__'), hostile, {
  maxKeys: 6,
})
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const port = fc.record({
  name: maybe(hostile),
  protocol: fc.constantFrom('TCP', 'UDP', 'SCTP', undefined) as fc.Arbitrary<'TCP' | undefined>,
  appProtocol: maybe(hostile),
  port: fc.integer({ min: 1, max: 65_535 }),
  targetPort: maybe(fc.oneof(hostile, fc.integer({ min: 1, max: 65_535 }))),
  nodePort: maybe(fc.integer({ min: 0, max: 65_535 })),
})
const hostileService = fc
  .record({
    name: hostile,
    annotations,
    ports: fc.array(port, { maxLength: 5 }),
    loadBalancerIP: maybe(hostile),
    loadBalancerClass: maybe(hostile),
    loadBalancerSourceRanges: maybe(fc.array(hostile, { maxLength: 3 })),
    externalTrafficPolicy: maybe(hostile),
    sessionAffinity: maybe(fc.oneof(hostile, fc.constant('ClientIP'))),
    clusterIP: maybe(hostile),
    ipFamilies: maybe(fc.array(fc.oneof(hostile, fc.constantFrom('IPv4', 'IPv6')), { maxLength: 3 })),
    ipFamilyPolicy: maybe(hostile),
  })
  .map(({ name, annotations: said, ...spec }) =>
    service(name, spec as unknown as Service['spec'], { annotations: said, uid: uid(666) }),
  )

const hostileSlice = fc
  .array(fc.record({ address: hostile, zone: maybe(hostile), pod: maybe(hostile) }), { maxLength: 4 })
  .map((endpoints) =>
    slice(
      'x',
      endpoints.map(({ address, zone, pod }) => endpoint(address, { zone, targetRef: { name: pod } })),
    ),
  )

const surroundings = (own: UnitInput['surroundings'] extends (one: never) => infer S ? S : never) => own

describe('hostile Services', () => {
  test('any strings: a draft or a refusal that can be shown, never an exception; equal input, equal bytes', async () => {
    await fc.assert(
      fc.property(hostileService, hostileSlice, fc.constantFrom('direct', 'node-ports'), (one, own, mode) => {
        const around = surroundings({ slices: [own], nodes: [], mode: mode as 'direct' })
        const draft = draftOf(one, around)
        unitOf(one)
        ownershipOf(one, { className: 'a/b', isDefault: true, namespaces: null })
        expect(JSON.stringify(draftOf(structuredClone(one), structuredClone(around)))).toBe(JSON.stringify(draft))
        if ('refusal' in draft) {
          const [shown] = conditionsOf({
            ...{
              ports: [],
              refusedExternals: [],
              answering: null,
              page: null,
              before: [],
              now: '2026-01-01T00:00:00Z',
            },
            progress: { type: 'refused', refusal: draft.refusal },
          })
          expect(shown?.reason).toMatch(/^[A-Z][A-Za-z]+$/)
          expect(shown?.message.length).toBeLessThanOrEqual(1024)
          expect(shown?.message).not.toMatch(/[^\x20-\x7e]/)
          return
        }
        const content = groupContent([{ draft: draft.value, taken: new Set() }], 'cluster')
        for (const { name, members } of content.pools) {
          // Names on nodes and in documents are made by us, never taken from the Service.
          expect(name).toMatch(/^[0-9a-f-]{36}\/(tcp|udp|sctp)\/\d+$/)
          for (const { address, port: number } of members) {
            expect(address).toMatch(/^[0-9a-f.:]+$/)
            expect(number).toBeGreaterThan(0)
          }
        }
      }),
      { numRuns: byLength(400, 2000) },
    )
  })

  test('a Service changes only its own part, also when it would share', async () => {
    const key = { 'spout.dev/allow-shared-ip': 'k' }
    const good = service('good', {}, { uid: uid(1), annotations: key, creationTimestamp: '2025-01-01T00:00:00Z' })
    const around = () => ({ slices: [slice('good', [endpoint('10.1.0.1')])], nodes: [], mode: 'direct' as const })
    const alone = planUnit({ services: [good], documents: [], cluster: 'c', surroundings: around })
    const before = alone.groups[0]?.content
    await fc.assert(
      fc.property(hostileService, (one) => {
        const bad = { ...one, metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, ...key } } }
        const plan = planUnit({ services: [bad, good], documents: [], cluster: 'c', surroundings: around })
        const group = plan.groups.find(({ services }) => services.some((each) => each.service === good))
        const own = (name: string) => name.startsWith(`${uid(1)}/`)
        expect(group?.content.pools.filter(({ name }) => own(name))).toEqual(before?.pools)
        expect(group?.content.listeners.filter(({ defaultPool }) => own(defaultPool))).toEqual(before?.listeners)
        expect(group?.services.find((each) => each.service === good)?.ports.every(({ error }) => error === null)).toBe(
          true,
        )
      }),
      { numRuns: byLength(100, 500) },
    )
  })
})
