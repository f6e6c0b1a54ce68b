import { readdirSync, readFileSync } from 'node:fs'
import { type LoadBalancer, listenerTls, loadBalancer } from '@spout/model'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadBalancerResource } from '../resources/load-balancer.ts'
import { foldGraph, unfoldGraph } from '../snapshots/graph.ts'
import { KnownPools } from '../snapshots/operating-status.ts'
import { snapshotOf } from '../snapshots/snapshot.ts'
import { countingStamp, directory, id, loadBalancerOf, PROJECT, publicPool, statusOf } from '../testing/fixtures.ts'
import { loadBalancerDraft, readLoadBalancer } from '../to-model/to-model.ts'
import { printObject } from '../wire/field.ts'
import { printGraph, printStats, printStatusTree } from './write-back.ts'

/** An object as clients get it. */
// biome-ignore lint/suspicious/noExplicitAny: what a test reads of an answer it checks itself
const written = (answer: object): any => JSON.parse(JSON.stringify(answer))

const testdata = new URL('../../testdata/write-back/', import.meta.url)

interface Golden {
  readonly loadBalancer: unknown
  readonly status: Parameters<typeof statusOf>[0]
}

describe('model and status become replies', () => {
  const cases = readdirSync(testdata).flatMap((name) => (name.endsWith('.in.json') ? [name.slice(0, -8)] : []))
  test.each(cases)('%s', async (name) => {
    const input: Golden = JSON.parse(readFileSync(new URL(`${name}.in.json`, testdata), 'utf8'))
    const lb = loadBalancer.parse(input.loadBalancer)
    const snapshot = snapshotOf(lb, statusOf(input.status), new KnownPools())
    const replies = {
      ...printObject(loadBalancerResource.fields, { snapshot, vips: lb.vips }, new Set(['listeners', 'pools'])),
      graph: printGraph(snapshot, lb.vips),
      ...printStatusTree(snapshot),
      ...printStats(
        snapshot,
        lb.listeners.map((listener) => listener.id),
      ),
    }
    await expect(`${JSON.stringify(replies, null, 2)}\n`).toMatchFileSnapshot(
      new URL(`${name}.out.json`, testdata).pathname,
    )
  })
})

describe('for every request', () => {
  const name = fc.string({ maxLength: 20 })
  const member = fc.record({
    address: fc.integer({ min: 1, max: 250 }).map((last) => `10.0.0.${last}`),
    protocol_port: fc.integer({ min: 1, max: 65_535 }),
    weight: fc.integer({ min: 0, max: 256 }),
    backup: fc.boolean(),
    name,
  })
  const httpMonitor = fc.record({
    type: fc.constant('HTTP'),
    delay: fc.integer({ min: 1, max: 100 }),
    timeout: fc.integer({ min: 1, max: 100 }),
    max_retries: fc.integer({ min: 1, max: 10 }),
    max_retries_down: fc.integer({ min: 1, max: 10 }),
    url_path: fc.constantFrom('/', '/health?full=1'),
    http_method: fc.constantFrom('GET', 'HEAD'),
    expected_codes: fc.constantFrom('200', '200,204', '200-299'),
    http_version: fc.constantFrom(1, 1.1, null),
    admin_state_up: fc.boolean(),
  })
  const tcpMonitor = fc.record({
    type: fc.constantFrom('TCP'),
    delay: fc.integer({ min: 1, max: 100 }),
    timeout: fc.integer({ min: 1, max: 100 }),
    max_retries: fc.integer({ min: 1, max: 10 }),
  })
  const poolFor = (protocols: readonly string[]) =>
    fc.record({
      protocol: fc.constantFrom(...protocols),
      lb_algorithm: fc.constantFrom('ROUND_ROBIN', 'LEAST_CONNECTIONS', 'SOURCE_IP', 'SOURCE_IP_PORT'),
      session_persistence: fc.constantFrom(null, { type: 'SOURCE_IP' }),
      healthmonitor: fc.oneof(fc.constant(null), httpMonitor, tcpMonitor),
      members: fc.uniqueArray(member, {
        maxLength: 5,
        selector: (one) => `${one.address} ${one.protocol_port}`,
      }),
    })
  const listenerTo = (protocol: string, pools: readonly string[]) =>
    fc.record({
      protocol: fc.constant(protocol),
      name,
      connection_limit: fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 1000 })),
      timeout_client_data: fc.constantFrom(50_000, 1000),
      allowed_cidrs: fc.constantFrom(null, ['0.0.0.0/0'], ['10.0.0.0/8', '192.0.2.0/24']),
      insert_headers:
        protocol === 'HTTP'
          ? fc.dictionary(fc.constantFrom('X-Forwarded-For', 'X-Forwarded-Port'), fc.constantFrom('true', 'false'))
          : fc.constant({}),
      default_pool: poolFor(pools),
    })
  const graph = fc
    .array(
      fc.oneof(
        listenerTo('TCP', ['TCP', 'HTTP', 'HTTPS', 'PROXY', 'PROXYV2']),
        listenerTo('HTTPS', ['TCP', 'HTTPS', 'PROXY', 'PROXYV2']),
        listenerTo('HTTP', ['HTTP', 'PROXY', 'PROXYV2']),
        listenerTo('UDP', ['UDP']),
      ),
      { maxLength: 4 },
    )
    .map((listeners) =>
      listeners.map((listener, index) => ({
        ...listener,
        protocol_port: index + 1,
        default_pool: { ...listener.default_pool, name: `pool-${index}` },
      })),
    )

  const made = (listeners: readonly object[]): LoadBalancer => {
    const request = { loadbalancer: { vip_subnet_id: publicPool.id, listeners } }
    const draft = loadBalancerDraft({
      spec: readLoadBalancer(request, countingStamp()),
      projectId: PROJECT,
      directory,
      providers: ['amphora'],
    })
    return loadBalancer.parse({ ...loadBalancerOf(), ...draft, vips: loadBalancerOf().vips })
  }

  test('is returned as it was requested', () => {
    fc.assert(
      fc.property(graph, (listeners) => {
        const lb = made(listeners)
        const printed = written(printGraph(snapshotOf(lb, statusOf(), new KnownPools()), lb.vips))
        const pools = listeners.map(({ default_pool }) => default_pool)
        expect(printed).toMatchObject({
          listeners: listeners.map(({ default_pool: _, ...listener }) => listener),
          pools: pools.map(({ session_persistence, ...pool }) => ({
            ...pool,
            ...(session_persistence && { session_persistence }),
          })),
        })
      }),
    )
  })

  test('folds back into the very same model', () => {
    fc.assert(
      fc.property(graph, (listeners) => {
        const lb = made(listeners)
        const { listeners: again, pools, annotations } = foldGraph(unfoldGraph(lb), lb.annotations)
        expect(annotations).toEqual(lb.annotations)
        expect([...again, ...pools].every((one, index) => one === [...lb.listeners, ...lb.pools][index])).toBe(true)
      }),
    )
  })

  test('a change keeps that clients with a certificate that does not fit are let in', () => {
    const lb = made([{ protocol: 'HTTP', protocol_port: 443 }])
    const tls = listenerTls.parse({
      certificateIds: [id('certificate')],
      clientCertificates: { caCertificateId: id('authorities'), required: false, acceptInvalid: true },
    })
    const listeners = lb.listeners.map((one) => ({ ...one, protocol: 'https' as const, tls }))
    const graph = unfoldGraph({ ...lb, listeners })
    const folded = (clientAuthentication: 'OPTIONAL' | 'MANDATORY') =>
      foldGraph(
        { ...graph, listeners: graph.listeners.map((one) => ({ ...one, tls: { ...one.tls, clientAuthentication } })) },
        lb.annotations,
      ).listeners[0]?.tls?.clientCertificates
    expect(folded('OPTIONAL')).toEqual(tls.clientCertificates)
    expect(folded('MANDATORY')).toEqual({ caCertificateId: id('authorities'), required: true })
  })
})

test('floating addresses are not shown', () => {
  const lb = loadBalancerOf()
  const own = written(printGraph(snapshotOf(lb, statusOf(), new KnownPools()), lb.vips))
  expect(own).toMatchObject({ vip_port_id: id('port'), additional_vips: [] })
})
