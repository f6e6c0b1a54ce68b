import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import {
  ensureGatewayConformance,
  type GatewayConformance,
  gatewayApiDefinitions,
  issueCertificate,
  LONG_TESTS,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { failuresIn, runConformance } from '../../packages/intents/gateway/src/testing/conformance-run.fixture.ts'
import {
  installDefinitions,
  installGatewayApi,
} from '../../packages/intents/gateway/src/testing/install-gateway-api.fixture.ts'
import { connectorLog } from './connectors.ts'
import { type PodAnswer, type ServiceLab, startServiceLab } from './service-lab.ts'
import { serviceBody, servicesIn } from './services.ts'
import { startWorkload } from './workloads.ts'

const apiVersion = 'gateway.networking.k8s.io/v1'
const GROUP = `/apis/${apiVersion}`
const OURS = `${GROUP}/namespaces/default`

interface ShownGateway {
  readonly status?: {
    readonly addresses?: readonly { readonly value: string }[]
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly listeners?: readonly { readonly name: string; readonly attachedRoutes: number }[]
  }
}

let conformance: GatewayConformance
let lab: ServiceLab
let address: string

beforeAll(async () => {
  conformance = await ensureGatewayConformance()
  lab = await startServiceLab({ images: conformance.images })
  const { api } = lab.cluster
  for (const name of ['web', 'next']) {
    await startWorkload(lab, { name, replicas: 1 })
    await api.create(servicesIn('default'), serviceBody(name, name, { type: 'ClusterIP' }))
  }
  // The connector runs already: it goes on without Gateway API, and notices when it comes.
  await installGatewayApi(api)
  await api.create(`${GROUP}/gatewayclasses`, {
    apiVersion,
    kind: 'GatewayClass',
    metadata: { name: 'spout' },
    spec: { controllerName: 'spout.dev/gateway' },
  })
  await api.create(`${OURS}/gateways`, {
    apiVersion,
    kind: 'Gateway',
    metadata: { name: 'shop' },
    spec: { gatewayClassName: 'spout', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  })
  address = await waitFor(
    async () => {
      const { status } = await api.get<ShownGateway>(`${OURS}/gateways/shop`)
      const programmed = status?.conditions?.find(({ type }) => type === 'Programmed')
      return programmed?.status === 'True' && (status?.addresses?.[0]?.value ?? null)
    },
    { what: 'the Gateway to be programmed', timeoutMs: 60_000 },
  )
}, 900_000)
afterAll(() => lab?.destroy())

const rule = (weights: Readonly<Record<string, number>>, more: object = {}) => ({
  backendRefs: Object.entries(weights).map(([name, weight]) => ({ name, port: 80, weight })),
  ...more,
})
const route = (name: string, spec: object) =>
  lab.cluster.api.apply(`${OURS}/httproutes/${name}`, {
    apiVersion,
    kind: 'HTTPRoute',
    metadata: { name },
    spec: { parentRefs: [{ name: 'shop' }], ...spec },
  })
const get = (host: string, path = '/', headers: Readonly<Record<string, string>> = {}) =>
  lab.client.http(address, 80, { path, headers: { host, ...headers } })
const statusOf = async (host: string, path = '/') => {
  const outcome = await get(host, path)
  return outcome.ok ? outcome.value.status : outcome.code
}
/** The workload that answers; null for any other answer than 200. */
const appOf = async (host: string, path = '/', headers: Readonly<Record<string, string>> = {}) => {
  const outcome = await get(host, path, headers)
  if (!outcome.ok || outcome.value.status !== 200) return null
  return (JSON.parse(outcome.value.body) as PodAnswer).pod.split('-')[0] ?? ''
}
const until = (what: string, probe: () => Promise<boolean>) => waitFor(probe, { what, timeoutMs: 30_000 })

describe('Gateways and their routes on a real Kubernetes', () => {
  it('is told that Gateway API was missing, and serves Gateways without a restart', () => {
    expect(connectorLog(lab)).toContain('"event":"api-left-alone","api":"Gateway API"')
    expect(connectorLog(lab)).toContain('"event":"api-balanced","api":"Gateway API"')
  })

  it('sends by host, path and header to the pods, and answers 404 to everything else', async () => {
    expect(await statusOf('shop.example.org')).toBe(404)
    await route('web', {
      hostnames: ['shop.example.org'],
      rules: [
        rule({ web: 1 }),
        rule(
          { next: 1 },
          {
            matches: [
              { path: { type: 'PathPrefix', value: '/next' } },
              { headers: [{ name: 'x-version', value: 'next' }] },
            ],
          },
        ),
      ],
    })
    await until('the route', async () => (await appOf('shop.example.org')) === 'web')
    expect(await appOf('shop.example.org', '/next/page')).toBe('next')
    expect(await appOf('shop.example.org', '/nextdoor')).toBe('web')
    expect(await appOf('shop.example.org', '/', { 'x-version': 'next' })).toBe('next')
    expect(await statusOf('other.example.org')).toBe(404)
  })

  it('redirects, and answers 500 for a backend that does not exist and 503 for one without endpoints', async () => {
    await lab.cluster.api.create(servicesIn('default'), serviceBody('empty', 'nobody', { type: 'ClusterIP' }))
    const redirect = { type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 301 } }
    await route('answers', {
      hostnames: ['answers.example.org'],
      rules: [
        { matches: [{ path: { value: '/old' } }], filters: [redirect] },
        rule({ missing: 1 }, { matches: [{ path: { value: '/missing' } }] }),
        rule({ empty: 1 }, { matches: [{ path: { value: '/empty' } }] }),
      ],
    })
    await until('the redirect', async () => (await statusOf('answers.example.org', '/old')) === 301)
    expect(await statusOf('answers.example.org', '/missing')).toBe(500)
    expect(await statusOf('answers.example.org', '/empty')).toBe(503)
  })

  it('shares requests by weight, and moves them all without a failed one', async () => {
    const weighted = (web: number, next: number) =>
      route('canary', { hostnames: ['canary.example.org'], rules: [rule({ web, next })] })
    await weighted(1, 0)
    await until('the route', async () => (await appOf('canary.example.org')) === 'web')
    const answers: (string | null)[] = []
    let stopped = false
    const asking = (async () => {
      while (!stopped) answers.push(await appOf('canary.example.org'))
    })()
    await weighted(1, 1)
    await until('both', async () => answers.slice(-20).includes('web') && answers.slice(-20).includes('next'))
    await weighted(0, 1)
    await until('the other one alone', async () => answers.slice(-20).every((app) => app === 'next'))
    stopped = true
    await asking
    expect(answers.filter((app) => app === null)).toEqual([])
  })

  it('ends TLS with the certificate of a Secret, and shows the next one when it is renewed', async () => {
    const host = 'secure.example.org'
    const authority = issueCertificate({ isAuthority: true, alternatives: '' })
    const caFile = path.join(lab.system.lab.directory, 'gateway-ca.pem')
    writeFileSync(caFile, authority.certificate)
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const store = async () => {
      const { certificate, key } = issueCertificate({ names: [host], issuer: authority })
      await lab.cluster.api.apply('/api/v1/namespaces/default/secrets/secure', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'secure' },
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
      })
    }
    const serial = async () => {
      const to = ['--resolve', `${host}:443:${address}`, '--cacert', caFile]
      const argv = ['curl', '-sS', '--max-time', '5', ...to, '-w', '%{http_code} %{certs}', `https://${host}/`]
      const { code, stdout } = await lab.system.lab.run('client', argv)
      return code === 0 && stdout.includes('200') ? (/Serial Number:(\w+)/.exec(stdout)?.[1] ?? null) : null
    }
    await store()
    await lab.cluster.api.patch(`${OURS}/gateways/shop`, {
      spec: {
        listeners: [
          { name: 'http', port: 80, protocol: 'HTTP' },
          {
            name: 'https',
            port: 443,
            protocol: 'HTTPS',
            hostname: host,
            tls: { certificateRefs: [{ name: 'secure' }] },
          },
        ],
      },
    })
    await route('secure', { parentRefs: [{ name: 'shop', sectionName: 'https' }], rules: [rule({ web: 1 })] })
    await until('an answer over TLS', async () => (await serial()) !== null)
    const before = await serial()
    await store()
    await until('the new certificate', async () => ![null, before].includes(await serial()))
    await lab.cluster.api.delete(`${OURS}/httproutes/secure`)
  })

  it('passes TLS on by name, ends it, forwards TCP by weight and UDP, and refuses connections without endpoints', async () => {
    const { api } = lab.cluster
    const authority = issueCertificate({ isAuthority: true, alternatives: '' })
    const caFile = path.join(lab.system.lab.directory, 'passed-on-ca.pem')
    writeFileSync(caFile, authority.certificate)
    for (const app of ['web', 'next']) {
      const [pod] = await lab.cluster.pods(`app=${app}`)
      const { certificate, key } = issueCertificate({ names: [`${app}.example.org`], issuer: authority })
      const file = path.join(lab.system.lab.directory, `${app}.pem`)
      writeFileSync(file, certificate + key)
      const argv = ['openssl', 's_server', '-accept', '8443', '-cert', file, '-key', file, '-www']
      await lab.system.lab.start(lab.cluster.podPlace(pod!), `tls-${app}`, argv, { readyText: 'ACCEPT' })
      const ports = [
        { name: 'tls', port: 443, targetPort: 8443, protocol: 'TCP' },
        { name: 'echo', port: 53, targetPort: 'echo', protocol: 'UDP' },
      ]
      await api.create(servicesIn('default'), serviceBody(`${app}-raw`, app, { type: 'ClusterIP', ports }))
    }
    const connections = (kind: 'TLSRoute' | 'TCPRoute' | 'UDPRoute', name: string, spec: object) =>
      api.apply(`${OURS}/${kind.toLowerCase()}s/${name}`, {
        ...{ apiVersion, kind, metadata: { name } },
        spec: { parentRefs: [{ name: 'shop' }], ...spec },
      })
    const ended = issueCertificate({ names: ['ended.example.org'], issuer: authority })
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    await api.apply('/api/v1/namespaces/default/secrets/ended', {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'ended' }, type: 'kubernetes.io/tls' },
      data: { 'tls.crt': base64(ended.certificate), 'tls.key': base64(ended.key) },
    })
    const to = (name: string, port: number, more: object = {}) => ({ name, port, ...more })
    await api.patch(`${OURS}/gateways/shop`, {
      spec: {
        listeners: [
          { name: 'http', port: 80, protocol: 'HTTP' },
          { name: 'tls', port: 443, protocol: 'TLS', hostname: '*.example.org', tls: { mode: 'Passthrough' } },
          { name: 'tcp', port: 53, protocol: 'TCP' },
          { name: 'udp', port: 53, protocol: 'UDP' },
          { name: 'idle', port: 54, protocol: 'TCP' },
          { name: 'ends', port: 444, protocol: 'TLS', tls: { certificateRefs: [{ name: 'ended' }] } },
        ],
      },
    })
    for (const app of ['web', 'next'])
      await connections('TLSRoute', app, {
        parentRefs: [{ name: 'shop', sectionName: 'tls' }],
        hostnames: [`${app}.example.org`],
        rules: [{ backendRefs: [to(`${app}-raw`, 443)] }],
      })
    await connections('TLSRoute', 'ended', {
      parentRefs: [{ name: 'shop', sectionName: 'ends' }],
      hostnames: ['ended.example.org'],
      rules: [{ backendRefs: [to('web', 80)] }],
    })
    const weighted = [to('web', 80, { weight: 3 }), to('next', 80, { weight: 1 })]
    await connections('TCPRoute', 'tcp', {
      parentRefs: [{ name: 'shop', sectionName: 'tcp' }],
      rules: [{ backendRefs: weighted }],
    })
    await connections('UDPRoute', 'udp', { rules: [{ backendRefs: [to('next-raw', 53)] }] })
    /** curl trusts this authority alone, so a `200` is from the pod that has the name. */
    const passedOn = async (host: string, port = 443) => {
      const to = ['--resolve', `${host}:${port}:${address}`, '--cacert', caFile]
      const argv = ['curl', '-sS', '--max-time', '5', '-o', '/dev/null', '-w', '%{http_code}', ...to]
      const { code, stdout } = await lab.system.lab.run('client', [...argv, `https://${host}:${port}/`])
      return code === 0 ? stdout : `curl ${code}`
    }
    for (const app of ['web', 'next'])
      await until(`the TLS of ${app}`, async () => (await passedOn(`${app}.example.org`)) === '200')
    // Closed within the handshake (CURLE_SSL_CONNECT_ERROR).
    expect(await passedOn('other.example.net')).toBe('curl 35')
    // The pods speak HTTP alone: the node has ended TLS.
    await until('TLS that is ended', async () => (await passedOn('ended.example.org', 444)) === '200')
    const overTcp = async () => (await lab.ask(address, 53))?.pod.split('-')[0] ?? null
    await until('TCP', async () => (await overTcp()) !== null)
    const apps: (string | null)[] = []
    for (let at = 0; at < 80; at++) apps.push(await overTcp())
    expect(apps).not.toContain(null)
    const share = apps.filter((app) => app === 'web').length / apps.length
    expect([share > 0.55, share < 0.95]).toEqual([true, true])
    const overUdp = async () => {
      const outcome = await lab.client.udp(address, 53, 'ping')
      return outcome.ok ? outcome.value : ''
    }
    await until('UDP', async () => /^next-\S+ ping$/.test(await overUdp()))
    const refused = await lab.client.http(address, 54)
    expect(refused).toMatchObject({ ok: false, code: 'ECONNREFUSED' })
    for (const [plural, name] of [
      ['tlsroutes', 'web'],
      ['tlsroutes', 'next'],
      ['tlsroutes', 'ended'],
      ['tcproutes', 'tcp'],
      ['udproutes', 'udp'],
    ])
      await api.delete(`${OURS}/${plural}/${name}`)
    await until('TCP is refused without its route', async () => {
      const outcome = await lab.client.http(address, 53)
      return !outcome.ok && outcome.code === 'ECONNREFUSED'
    })
  })

  it('follows a route that goes, and tells how many are attached', async () => {
    const attached = async () =>
      (await lab.cluster.api.get<ShownGateway>(`${OURS}/gateways/shop`)).status?.listeners?.[0]?.attachedRoutes
    await until('three routes', async () => (await attached()) === 3)
    await lab.cluster.api.delete(`${OURS}/httproutes/web`)
    await until('404', async () => (await statusOf('shop.example.org')) === 404)
    await until('two routes', async () => (await attached()) === 2)
  })
})

const PROFILES: readonly string[] = ['GATEWAY-GRPC', 'GATEWAY-HTTP', 'GATEWAY-TCP', 'GATEWAY-TLS', 'GATEWAY-UDP']
const KEPT_REPORT = path.resolve(import.meta.dirname, '../../docs/conformance/gateway-api-v1.6.1.yaml')
/** They take a third of the time. */
const LONG: readonly string[] = [
  'GatewayModifyListeners',
  'HTTPRouteRequestPercentageMirror',
  'HTTPRouteTimeoutRequest',
  'HTTPRouteTimeoutBackendRequest',
  'HTTPRouteWeight',
]

/** To look at one test of the suite. */
const { SPOUT_CONFORMANCE_TEST: ONE } = process.env

describe('the conformance suite of Gateway API', () => {
  let place: string
  beforeAll(async () => {
    place = await lab.cluster.addTester()
  })

  it('passes with traffic, all but the longest tests by default', { timeout: 900_000 }, async () => {
    const { text, report, failed, log } = await runConformance(lab.cluster, place, conformance, {
      profiles: PROFILES,
      skipTests: LONG_TESTS || ONE !== undefined ? [] : LONG,
      runTest: ONE,
      addresses: { usable: '198.51.100.200', unusable: '2001:db8:bad::1' },
    })
    expect(failed, failuresIn(log).join('\n')).toEqual([])
    if (ONE !== undefined) return expect(log).toContain(`--- PASS: TestConformance/${ONE} `)
    expect(report.profiles.map(({ name }) => name)).toEqual(PROFILES)
    for (const { core, extended } of report.profiles)
      for (const { result, failedTests, statistics } of [core, extended]) {
        expect(failedTests ?? [], failuresIn(log).join('\n')).toEqual([])
        expect(statistics.Passed).toBeGreaterThan(0)
        expect(result).toBe(LONG_TESTS || statistics.Skipped === 0 ? 'success' : 'partial')
      }
    if (!LONG_TESTS) return
    // A run on another day that says the same is no other report.
    const withoutDate = (yaml: string): string => yaml.replace(/^date: .*$/m, '')
    const kept = existsSync(KEPT_REPORT) ? readFileSync(KEPT_REPORT, 'utf8') : ''
    await expect(withoutDate(text) === withoutDate(kept) ? kept : text).toMatchFileSnapshot(KEPT_REPORT)
  })
  it.runIf(LONG_TESTS)(
    'passes the test of retries, which are of the experimental channel',
    { timeout: 600_000 },
    async () => {
      await installDefinitions(lab.cluster.api, await gatewayApiDefinitions('experimental'))
      const test = 'HTTPRouteRetry'
      const { log, failed } = await runConformance(lab.cluster, place, conformance, {
        ...{ profiles: ['GATEWAY-HTTP'], skipTests: [], runTest: test, features: ['Gateway', 'HTTPRoute', test] },
        addresses: { usable: '198.51.100.200', unusable: '2001:db8:bad::1' },
      })
      expect(failed, failuresIn(log).join('\n')).toEqual([])
      expect(log).toContain(`--- PASS: TestConformance/${test} `)
    },
  )
})
