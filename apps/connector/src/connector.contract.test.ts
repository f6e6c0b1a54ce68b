import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Condition, KubeObject } from '@spout/kube'
import { bundled, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  installDefinitions,
  installGatewayApi,
} from '../../../packages/intents/gateway/src/testing/install-gateway-api.fixture.ts'
import {
  type ControllerBed,
  condition,
  ips,
  openControllerBed,
} from '../../../packages/intents/service/src/testing/controller-bed.fixture.ts'
import { countingWay } from './testing/counting-way.fixture.ts'

const GATEWAY_VERSION = 'gateway.networking.k8s.io/v1'
const GATEWAY_API = `/apis/${GATEWAY_VERSION}`
interface RouteObject extends KubeObject {
  readonly status?: {
    readonly parents: readonly {
      readonly parentRef: { readonly namespace?: string }
      readonly conditions: readonly Condition[]
    }[]
  }
}
const PROGRAM = bundled(path.join(import.meta.dirname, 'main.ts'))

let bed: ControllerBed
let directory: string
let endpoint: string
let token: string
const children = new Set<ChildProcess>()

beforeAll(async () => {
  bed = await openControllerBed()
  directory = mkdtempSync(path.join(tmpdir(), 'spout-connector-'))
  const address = bed.spout.app.server.address()
  endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  token = (await bed.spout.login('connector-process', bed.project.id, 'balancer')).token
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
  await bed.close()
})

interface Running {
  readonly child: ChildProcess
  /** What it wrote to both its outputs. */
  readonly text: () => string
  readonly lines: () => readonly Record<string, unknown>[]
  readonly ended: Promise<number | null>
  readonly get: (path: string) => Promise<{ readonly status: number; readonly text: string }>
}

/** Starts a connector and waits until it listens. */
async function start(name: string, settings: readonly string[] = []): Promise<Running> {
  const tokenFile = path.join(directory, `${name}.token`)
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
  const all = [
    `spout.endpoint=${endpoint}`,
    `spout.tokenFile=${tokenFile}`,
    `kubernetes.kubeconfig=${bed.cluster.kubeconfigFile}`,
    'leader.namespace=default',
    'http.host=127.0.0.1',
    'http.port=0',
    'network.name=pods',
    'services.addressPools=[public, six]',
    ...settings,
  ]
  const child = spawn(process.execPath, [PROGRAM, ...all.flatMap((setting) => ['--set', setting])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {},
  })
  children.add(child)
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const lines = () =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  const listening = () => {
    if (child.exitCode !== null) throw new Error(text)
    return lines().find(({ event }) => event === 'listening')?.['httpPort']
  }
  const port = await waitFor(listening, { what: `${name} to listen`, timeoutMs: 60_000 })
  const get = async (at: string) => {
    // The other side may close a kept connection just when it is used again.
    const answer = await fetch(`http://127.0.0.1:${String(port)}${at}`, { headers: { connection: 'close' } })
    return { status: answer.status, text: await answer.text() }
  }
  return { child, text: () => text, lines, ended, get }
}

/** Until it leads it is ready without having read anything. */
const leads = async ({ get }: Running): Promise<boolean> =>
  (await get('/metrics')).text.split('\n').includes('spout_connector_leader 1')

describe('the connector as a process', () => {
  test('one of two works; when it goes the other takes over and changes nothing', async () => {
    const first = await start('first')
    await bed.until('the first to lead', () => leads(first))
    await bed.until('both sides read', async () => (await first.get('/readyz')).status === 200)
    const second = await start('second')
    expect((await second.get('/healthz')).text).toBe('ok\n')
    const one = await bed.create('by-process')
    const [address] = ips(await bed.when('by-process', 'an address', (service) => ips(service).length > 0))
    bed.confirm(bed.documentOf(one)!)
    await bed.when('by-process', 'programmed', (service) => condition(service)?.status === 'True')
    expect((await first.get('/metrics')).text).toContain('spout_connector_services 1')
    expect((await second.get('/metrics')).text).toContain('spout_connector_leader 0')
    const before = await bed.get('by-process')

    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    await bed.until('the second to lead', () => leads(second))
    await bed.until('both sides read', async () =>
      (await second.get('/metrics')).text.includes('spout_connector_services 1'),
    )
    await bed.create('by-second')
    await bed.when('by-second', 'an address', (service) => ips(service).length > 0)
    const after = await bed.get('by-process')
    expect([ips(after)[0], after.metadata.resourceVersion]).toEqual([address, before.metadata.resourceVersion])
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
  })

  test('when the control plane that it asks goes away, it goes on at the next of its URLs', async () => {
    const [first, second] = await Promise.all(
      [1, 2].map(() => countingWay('127.0.0.1', Number(new URL(endpoint).port))),
    )
    const urls = [first!, second!].map(({ port }) => `http://127.0.0.1:${port}`)
    const running = await start('urls', [`spout.endpoint=${urls.join()}`])
    try {
      await bed.until('it to lead', () => leads(running))
      await bed.until('both sides read', async () => (await running.get('/readyz')).status === 200)
      expect(first!.bytes().down).toBeGreaterThan(0)

      await first![Symbol.asyncDispose]()
      const one = await bed.create('by-next')
      await bed.when('by-next', 'an address', (service) => ips(service).length > 0)
      // That the nodes confirmed it, the connector learns from its watch.
      bed.confirm(bed.documentOf(one)!)
      await bed.when('by-next', 'programmed', (service) => condition(service)?.status === 'True')
      running.child.kill('SIGTERM')
      expect(await running.ended).toBe(0)
    } finally {
      running.child.kill('SIGKILL')
      await second![Symbol.asyncDispose]()
    }
  })

  test('pod routes of the network follow the nodes; an event says why a Service is refused', async () => {
    const running = await start('routes')
    await bed.api.create('/api/v1/nodes', { metadata: { name: 'n1' }, spec: { podCIDRs: ['10.244.1.0/24'] } } as never)
    const addresses = [{ type: 'InternalIP', address: '10.0.0.21' }]
    await bed.api.patch('/api/v1/nodes/n1/status', { status: { addresses } })
    const routes = () => bed.spout.view.get('network', bed.network.id)?.value.routes
    await bed.until('a route', () => routes()?.[0]?.to === '10.244.1.0/24')
    expect(routes()).toEqual([{ to: '10.244.1.0/24', via: '10.0.0.21' }])
    await bed.create('refused', { loadBalancerIP: '192.0.2.250' })
    const event = await bed.until('an event', async () => {
      const { items } = await bed.api.list<
        { reason: string; regarding: { name: string }; note: string } & { metadata: never }
      >('/apis/events.k8s.io/v1/namespaces/shop/events')
      return items.find(({ regarding }) => regarding.name === 'refused')
    })
    expect(event.reason).toBe('AddressNotInPool')
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  })

  test('namespaces of several projects; one whose credential is no good holds up nobody, and joins once it is', async () => {
    const stranger = (await bed.spout.login('connector-stranger', bed.stranger.id, 'balancer')).token
    const tokenFiles = ['tenant', 'stranger'].map((name) => path.join(directory, `rule-${name}.token`))
    writeFileSync(tokenFiles[0]!, token, { mode: 0o600 })
    writeFileSync(tokenFiles[1]!, 'nonsense', { mode: 0o600 })
    const rules = [
      { name: 'tenant', default: true, tokenFile: tokenFiles[0] },
      { name: 'stranger', namespaceLabels: { team: 'stranger' }, tokenFile: tokenFiles[1] },
    ]
    await bed.api.create('/api/v1/namespaces', { metadata: { name: 'strange', labels: { team: 'stranger' } } } as never)
    const running = await start('rules', ['spout.tokenFile=', `projects=${JSON.stringify(rules)}`])
    const one = await bed.create('ruled')
    await bed.create('ruled', {}, {}, 'strange')
    const before = await bed.when('ruled', 'an address', (service) => ips(service).length > 0)
    expect(bed.documentOf(one)).toBeDefined()
    await bed.until('the reason', () =>
      running.lines().some(({ event, reason }) => event === 'cannot-begin' && /^stranger: /.test(String(reason))),
    )
    expect((await running.get('/readyz')).status).toBe(503)
    expect(ips(await bed.get('ruled', 'strange'))).toEqual([])
    writeFileSync(tokenFiles[1]!, stranger, { mode: 0o600 })
    await bed.when('ruled', 'an address', (service) => ips(service).length > 0, 'strange')
    expect(bed.spout.view.list('loadBalancer', { projectId: bed.stranger.id })).toHaveLength(1)
    await bed.until('both sides read', async () => (await running.get('/readyz')).status === 200)
    expect(ips(await bed.get('ruled'))).toEqual(ips(before))
    const metrics = (await running.get('/metrics')).text
    expect(metrics).toContain('spout_connector_objects{kind="Namespace"}')
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  })

  test('Gateways and LoadBalancer objects are of the projects of their namespaces; a route may have Gateways of both', async () => {
    const { api } = bed
    await installGatewayApi(api)
    await installDefinitions(api, path.join(import.meta.dirname, '../../../deploy/kubernetes/crds'))
    for (const name of ['side-a', 'side-b', 'side-free']) await api.create('/api/v1/namespaces', { metadata: { name } })
    const stranger = (await bed.spout.login('connector-sides', bed.stranger.id, 'balancer')).token
    const rules = [
      { name: 'tenant', namespaces: ['side-a'], secret: token },
      { name: 'stranger', namespaces: ['side-b'], secret: stranger },
    ].map(({ secret, ...rule }) => {
      const tokenFile = path.join(directory, `side-${rule.name}.token`)
      writeFileSync(tokenFile, secret, { mode: 0o600 })
      return { ...rule, tokenFile }
    })
    const running = await start('sides', ['spout.tokenFile=', `projects=${JSON.stringify(rules)}`])
    const gateways = (namespace: string) => `${GATEWAY_API}/namespaces/${namespace}/gateways`
    const objects = (namespace: string) => `/apis/spout.dev/v1/namespaces/${namespace}/loadbalancers`
    const typed = (apiVersion: string, kind: string, name: string, spec: object) =>
      ({ apiVersion, kind, metadata: { name }, spec }) as KubeObject
    await api.create(
      `${GATEWAY_API}/gatewayclasses`,
      typed(GATEWAY_VERSION, 'GatewayClass', 'spout', { controllerName: 'spout.dev/gateway' }),
    )
    const allowedRoutes = { namespaces: { from: 'All' } }
    for (const namespace of ['side-a', 'side-b', 'side-free']) {
      const listeners = [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes }]
      await api.create(
        gateways(namespace),
        typed(GATEWAY_VERSION, 'Gateway', 'edge', { gatewayClassName: 'spout', listeners }),
      )
      const spec = { listeners: [{ name: 'l', protocol: 'tcp', port: 99 }] }
      await api.create(objects(namespace), typed('spout.dev/v1', 'LoadBalancer', 'written', spec))
    }
    const routePath = `${GATEWAY_API}/namespaces/side-a/httproutes`
    const parentRefs = ['side-a', 'side-b', 'side-free'].map((namespace) => ({ name: 'edge', namespace }))
    await api.create(routePath, typed(GATEWAY_VERSION, 'HTTPRoute', 'both', { parentRefs, rules: [{}] }))

    const namesOf = (projectId: string) =>
      bed.spout.view.list('loadBalancer', { projectId }).flatMap(({ name }) => (name.startsWith('side') ? [name] : []))
    const sorted = (projectId: string) => namesOf(projectId).toSorted().join()
    // The connector looks for missing kinds every ten seconds.
    const soon = (what: string, probe: () => boolean | Promise<boolean>) => waitFor(probe, { what, timeoutMs: 100_000 })
    await soon('those of one project', () => sorted(bed.project.id) === 'side-a/edge,side-a/written')
    await soon('those of the other', () => sorted(bed.stranger.id) === 'side-b/edge,side-b/written')
    const accepted = async (generation: number) => {
      const { status } = await api.get<RouteObject>(`${routePath}/both`)
      return (status?.parents ?? [])
        .filter(({ conditions }) =>
          conditions.some(
            ({ type, status, observedGeneration }) =>
              type === 'Accepted' && status === 'True' && observedGeneration === generation,
          ),
        )
        .map(({ parentRef }) => parentRef.namespace)
        .toSorted()
        .join()
    }
    await soon('both entries', async () => (await accepted(1)) === 'side-a,side-b')
    // Neither removes the other's entry when it writes its own.
    await api.patch(`${routePath}/both`, { spec: { hostnames: ['a.example'] } })
    await soon('both entries again', async () => (await accepted(2)) === 'side-a,side-b')
    for (const [namespace, projectId] of [
      ['side-a', bed.project.id],
      ['side-b', bed.stranger.id],
    ] as const) {
      const { metadata } = await api.get<KubeObject>(`${gateways(namespace)}/edge`)
      expect(metadata.annotations?.['spout.dev/project']).toBe(projectId)
    }
    expect((await api.get<KubeObject>(`${gateways('side-free')}/edge`)).metadata.finalizers).toBeUndefined()
    const free = await api.get<KubeObject & { readonly status?: object }>(`${objects('side-free')}/written`)
    expect([free.metadata.finalizers, free.status]).toEqual([undefined, undefined])

    await api.delete(`${gateways('side-b')}/edge`)
    await api.delete(`${objects('side-b')}/written`)
    const isGone = async (at: string) => (await api.get(at).catch(() => null)) === null
    await soon('the Gateway to go', () => isGone(`${gateways('side-b')}/edge`))
    await soon('the object to go', () => isGone(`${objects('side-b')}/written`))
    expect([sorted(bed.stranger.id), sorted(bed.project.id)]).toEqual(['', 'side-a/edge,side-a/written'])
    await soon('its entry to go', async () => (await accepted(2)) === 'side-a')
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  }, 300_000)

  test('each kind of object leads to its load balancer on the web page, by what is written of it anyway', async () => {
    const { api } = bed
    await api.create('/api/v1/namespaces', { metadata: { name: 'linked' } })
    const typed = (apiVersion: string, kind: string, name: string, spec: object) =>
      ({ apiVersion, kind, metadata: { name }, spec }) as KubeObject
    const gateway = `${GATEWAY_API}/namespaces/linked/gateways`
    const ingress = '/apis/networking.k8s.io/v1/namespaces/linked/ingresses'
    const written = '/apis/spout.dev/v1/namespaces/linked/loadbalancers'
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
    await api.create(
      '/apis/networking.k8s.io/v1/ingressclasses',
      typed('networking.k8s.io/v1', 'IngressClass', 'linked', { controller: 'spout.dev/ingress' }),
    )
    await api.create(gateway, typed(GATEWAY_VERSION, 'Gateway', 'linked', { gatewayClassName: 'spout', listeners }))
    const backend = { service: { name: 'linked', port: { number: 80 } } }
    await api.create(
      ingress,
      typed('networking.k8s.io/v1', 'Ingress', 'linked', { ingressClassName: 'linked', defaultBackend: backend }),
    )
    const spec = { listeners: [{ name: 'l', protocol: 'tcp', port: 99 }] }
    await api.create(written, typed('spout.dev/v1', 'LoadBalancer', 'linked', spec))
    await bed.create('linked', {}, {}, 'linked')
    const settings = ['services.namespaces=[linked]', `spout.pageUrl=${endpoint}/ui/`]
    const running = await start('linked', settings)

    const mine = () => bed.documents().filter(({ annotations }) => Object.values(annotations).includes('linked/linked'))
    await bed.until('a load balancer of each', () => mine().length === 4, 60_000)
    for (const document of mine())
      bed.confirm(document, {
        serving: { state: 'no', reason: 'AllMembersDown', message: 'None answers.', membersUp: 0, members: 1 },
      })
    const linkOf = (kind: string): string => {
      const found = mine().find(({ annotations }) =>
        Object.keys(annotations).some((key) => key.startsWith(`kubernetes.${kind}.`)),
      )
      return `${endpoint}/ui/load-balancers/${found?.id}`
    }
    type Shown = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } }
    const says = (at: string, type: string, kind: string) =>
      bed.until(`${type} of ${at}`, async () => {
        const { status } = await api.get<Shown>(at)
        const message = status?.conditions?.find((one) => one.type === type)?.message ?? ''
        return message.endsWith(linkOf(kind))
      })
    const servicePath = bed.servicePath('linked', 'linked')
    for (const [at, kind, prefix] of [
      [servicePath, 'service', 'spout.dev/'],
      [`${written}/linked`, 'load-balancer', ''],
    ] as const)
      for (const type of ['Programmed', 'Serving']) await says(at, `${prefix}${type}`, kind)
    await says(`${gateway}/linked`, 'Programmed', 'gateway')
    await says(`${gateway}/linked`, 'spout.dev/Serving', 'gateway')
    type Event = { reason: string; regarding: { kind: string }; note: string } & { metadata: never }
    const told = async (kind: string, reason: string, of: string) => {
      const { items } = await api.list<Event>('/apis/events.k8s.io/v1/namespaces/linked/events')
      return items.some(
        ({ regarding, ...event }) =>
          regarding.kind === kind && event.reason === reason && event.note.endsWith(linkOf(of)),
      )
    }
    for (const reason of ['Programmed', 'AllMembersDown'])
      for (const [kind, of] of [
        ['Service', 'service'],
        ['Ingress', 'ingress'],
        ['LoadBalancer', 'load-balancer'],
      ] as const)
        await bed.until(`event ${reason} of ${kind}`, () => told(kind, reason, of))

    // Whoever follows the link finds it, if it is theirs.
    const { pathname } = new URL(linkOf('service'))
    const ask = async (as: string) => {
      const answer = await fetch(`${endpoint}${pathname.replace('/ui/', '/api/v1/')}/explain`, {
        headers: { authorization: `Bearer ${as}` },
      })
      return { status: answer.status, body: (await answer.json()) as object }
    }
    expect(await ask(token)).toMatchObject({
      ...{ status: 200, body: { madeFor: [{ kind: 'service', name: 'linked/linked' }] } },
    })
    const stranger = (await bed.spout.login('follows-links', bed.stranger.id, 'reader')).token
    expect((await ask(stranger)).status).toBe(404)
    // What others compare with its source stays as it is.
    const { annotations = {} } = (await bed.get('linked', 'linked')).metadata
    expect(Object.values(annotations).filter((value) => value.includes('/ui/'))).toEqual([])
    const paths = [servicePath, `${gateway}/linked`, `${ingress}/linked`, `${written}/linked`]
    for (const at of paths) await api.delete(at)
    await bed.until('the load balancers to go', () => mine().length === 0, 60_000)
    await api.delete('/apis/networking.k8s.io/v1/ingressclasses/linked')
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  }, 300_000)

  test('no byte of a private key is in a log, a message, a status or an argument, also of Secrets that are broken', async () => {
    const { api } = bed
    await api.create('/api/v1/namespaces', { metadata: { name: 'keys' } })
    const [good, other] = [issueCertificate({ names: ['keys.example'], days: 90 }), issueCertificate({ days: 90 })]
    const [line] = /[A-Za-z0-9+/=]{40,}/.exec(good.key) ?? ['']
    const type = 'kubernetes.io/tls'
    /** Secrets by name: the certificate, the key, and what they are called. */
    const secrets: Readonly<Record<string, readonly [crt: string, key: string, type?: string]>> = {
      good: [good.certificate, good.key],
      'key-of-another': [other.certificate, good.key],
      'key-as-certificate': [good.key, good.key],
      'key-and-certificate-exchanged': [good.key, good.certificate],
      'two-keys': [good.certificate, good.key + other.key],
      'cut-off': [good.certificate, good.key.slice(0, -60)],
      'bare-key': [good.certificate, line],
      'of-another-type': [good.certificate, good.key, 'Opaque'],
      'key-in-the-chain': [`${good.certificate}${good.key}`, other.key],
    }
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    for (const [name, [crt, key, as = type]] of Object.entries(secrets))
      await api.create('/api/v1/namespaces/keys/secrets', {
        ...{ metadata: { name }, type: as, data: { 'tls.crt': base64(crt), 'tls.key': base64(key) } },
      } as never)
    // Hashes of passwords are as secret. One list is good, one has a line that is not an entry; also as a file and by
    // names.
    const hashes = ['$2y$10$56J/MIMRCISG9/Dp2POMO.f6Sb9xXl/.LVUI7tfnDpnexAJ5MgOki', '{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk=']
    const users = {
      'good-users': ['auth-file', { auth: `joe:${hashes[0]}\nann:${hashes[1]}\n` }],
      'broken-users': ['auth-file', { auth: `joe:${hashes[0]}\nann:${hashes[1]}x\nno-line-of-users` }],
      'users-by-name': ['auth-map', { joe: hashes[0], ann: `${hashes[1]}\n${hashes[0]}` }],
    } as const
    for (const [name, [form, data]] of Object.entries(users)) {
      const encoded = Object.entries(data).map(([key, text]) => [key, base64(text ?? '')])
      await api.create('/api/v1/namespaces/keys/secrets', {
        ...{ metadata: { name }, type: 'Opaque', data: Object.fromEntries(encoded) },
      } as never)
      const annotations = { 'auth-type': 'basic', 'auth-secret': name, 'auth-secret-type': form }
      await api.create('/apis/networking.k8s.io/v1/namespaces/keys/ingresses', {
        metadata: {
          name,
          annotations: Object.fromEntries(
            Object.entries(annotations).map(([key, value]) => [`nginx.ingress.kubernetes.io/${key}`, value]),
          ),
        },
        spec: {
          ingressClassName: 'keys',
          rules: [
            {
              host: `${name}.keys.example`,
              http: {
                paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
              },
            },
          ],
        },
      } as never)
    }
    await api.create('/apis/networking.k8s.io/v1/ingressclasses', {
      ...{ metadata: { name: 'keys' }, spec: { controller: 'spout.dev/ingress' } },
    } as never)
    const running = await start('keys', ['log.level=debug', 'leader.elect=false'])
    const backend = { service: { name: 'none', port: { number: 80 } } }
    const object = (apiVersion: string, kind: string, name: string, spec: object) =>
      ({ apiVersion, kind, metadata: { name }, spec }) as KubeObject
    for (const name of Object.keys(secrets)) {
      const [host, tls] = [`${name}.keys.example`, { certificateRefs: [{ name }] }]
      await api.create(
        '/apis/networking.k8s.io/v1/namespaces/keys/ingresses',
        object('networking.k8s.io/v1', 'Ingress', name, {
          ...{ ingressClassName: 'keys', tls: [{ hosts: [host], secretName: name }] },
          rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
        }),
      )
      await api.create(
        `${GATEWAY_API}/namespaces/keys/gateways`,
        object(GATEWAY_VERSION, 'Gateway', name, {
          ...{ gatewayClassName: 'spout', listeners: [{ name: 'https', port: 443, protocol: 'HTTPS', tls }] },
        }),
      )
      await api.create(
        '/apis/spout.dev/v1/namespaces/keys/loadbalancers',
        object('spout.dev/v1', 'LoadBalancer', name, {
          listeners: [{ protocol: 'https', port: 443, tls: { secretNames: [name] } }],
        }),
      )
    }
    const listed = async (at: string) => (await api.list<KubeObject>(at)).items
    const statuses = async () => [
      ...(await listed(`${GATEWAY_API}/namespaces/keys/gateways`)),
      ...(await listed('/apis/spout.dev/v1/namespaces/keys/loadbalancers')),
      ...(await listed('/apis/networking.k8s.io/v1/namespaces/keys/ingresses')),
    ]
    const events = () => listed('/apis/events.k8s.io/v1/namespaces/keys/events')
    const isTold = async (words: readonly string[]) => {
      const all = JSON.stringify([await statuses(), await events()])
      return words.every((word) => all.includes(word))
    }
    await waitFor(
      async () =>
        (await isTold(['InvalidCertificateRef', 'InvalidCertificate', 'line 2: its hash', 'User 1 of the Secret'])) &&
        bed.spout.view.list('certificate', { projectId: bed.project.id }).length > 0 &&
        (await events()).length >= Object.keys(secrets).length,
      { what: 'all to be told', timeoutMs: 100_000 },
    )
    const seen = [
      running.text(),
      JSON.stringify([await statuses(), await events()]),
      JSON.stringify(['certificate', 'loadBalancer'].map((kind) => bed.spout.view.list(kind as 'certificate'))),
      ...['cmdline', 'environ'].map((file) => readFileSync(`/proc/${running.child.pid}/${file}`, 'latin1')),
      (await running.get('/metrics')).text,
    ].join('\n')
    // Each part of a key, as it stands in the file, and as it stands in a Secret.
    const parts = [good.key, other.key, ...hashes].flatMap((key) =>
      [key.replace(/-----[^-]+-----|\s/g, ''), base64(key)].flatMap((text) => text.match(/.{16}/g) ?? []),
    )
    expect(parts.length).toBeGreaterThan(20)
    // Not secret are the bytes with which every key of its kind begins, and the public key, which certificates contain.
    const withoutLines = (text: string) => text.replace(/\\n|\s/g, '')
    const common = issueCertificate({ days: 1 }).key
    const open = [common, base64(common), good.certificate, other.certificate].map(withoutLines)
    const secret = parts.filter((part) => open.every((text) => !text.includes(part)))
    expect(secret.length).toBeGreaterThan(10)
    const all = withoutLines(seen)
    expect(secret.filter((part) => all.includes(part))).toEqual([])
    // The log is not empty: its level shows what the connector does.
    expect(running.lines().some(({ level }) => level === 'debug' || level === 20)).toBe(true)
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  }, 300_000)

  test('classes of load balancers by kind: open, closed, disabled, disabled after use, full, unknown and foreign', async () => {
    const { api } = bed
    await api.create('/api/v1/namespaces', { metadata: { name: 'classes' } })
    const { admission } = bed.spout
    const ids = new Map<string, string>()
    for (const [name, projectIds] of [
      ['for-all', undefined],
      ['for-us', [bed.project.id]],
      ['for-others', [bed.stranger.id]],
      ['disabled', undefined],
      ['used', undefined],
      ['full', undefined],
    ] as const) {
      const draft = { name, enabled: name !== 'disabled', ...(projectIds && { projectIds: [...projectIds] }) }
      ids.set(name, (await admission.createLoadBalancerClass(draft)).id)
    }
    await admission.setQuota(bed.project.id, {}, { [ids.get('full') ?? '']: 0 })
    const parameters = (name: string) => ({ kind: 'LoadBalancerClass', name })
    const classOf = async (name: string, controller: string, parameters: object | null) => {
      await api.create('/apis/networking.k8s.io/v1/ingressclasses', {
        ...{ metadata: { name: `classes-${name}` } },
        spec: {
          controller: `${controller}/ingress`,
          ...(parameters && { parameters: { apiGroup: 'spout.dev', ...parameters } }),
        },
      } as never)
      await api.create(`${GATEWAY_API}/gatewayclasses`, {
        ...{ apiVersion: GATEWAY_VERSION, kind: 'GatewayClass', metadata: { name: `classes-${name}` } },
        spec: {
          controllerName: `${controller}/gateway`,
          ...(parameters && { parametersRef: { group: 'spout.dev', ...parameters } }),
        },
      } as never)
    }
    for (const name of [...ids.keys(), 'unknown']) await classOf(name, 'spout.dev', parameters(name))
    await classOf('foreign', 'example.org', parameters('for-us'))
    const running = await start('classes', ['leader.elect=false'])
    const kinds: Readonly<Record<string, readonly [at: string, make: (name: string) => object]>> = {
      Service: [
        '/api/v1/namespaces/classes/services',
        (name) => ({
          spec: {
            ...{ type: 'LoadBalancer', ports: [{ port: 80 }] },
            loadBalancerClass: `${name === 'foreign' ? 'example.org' : 'spout.dev'}/${name}`,
          },
        }),
      ],
      Ingress: [
        '/apis/networking.k8s.io/v1/namespaces/classes/ingresses',
        (name) => ({
          spec: {
            ingressClassName: `classes-${name}`,
            defaultBackend: { service: { name: 'none', port: { number: 80 } } },
          },
        }),
      ],
      Gateway: [
        `${GATEWAY_API}/namespaces/classes/gateways`,
        (name) => ({
          ...{ apiVersion: GATEWAY_VERSION, kind: 'Gateway' },
          spec: { gatewayClassName: `classes-${name}`, listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
        }),
      ],
      LoadBalancer: [
        '/apis/spout.dev/v1/namespaces/classes/loadbalancers',
        (name) => ({
          ...{ apiVersion: 'spout.dev/v1', kind: 'LoadBalancer' },
          spec: { class: name, listeners: [{ protocol: 'tcp', port: 80 }] },
        }),
      ],
    }
    const created = new Map<string, string>()
    for (const [kind, [at, make]] of Object.entries(kinds))
      for (const name of [...ids.keys(), 'unknown', 'foreign']) {
        const one = await api.create<KubeObject>(at, {
          ...make(name),
          metadata: { name: `${kind.toLowerCase()}-${name}` },
        } as never)
        created.set(`${at}/${kind.toLowerCase()}-${name}`, one.metadata.resourceVersion ?? '')
      }
    /** The class of the load balancer of each object, by its annotations. */
    const made = () =>
      bed.spout.view.list('loadBalancer', { projectId: bed.project.id }).flatMap(({ annotations, classId }) => {
        const [owner] = Object.values(annotations).filter((text) => text.startsWith('classes/'))
        return owner === undefined ? [] : [[owner, classId] as const]
      })
    const usable = Object.keys(kinds).flatMap((kind) =>
      ['for-all', 'for-us', 'used'].map((name) => [`classes/${kind.toLowerCase()}-${name}`, ids.get(name)] as const),
    )
    const sorted = (all: readonly (readonly [string, string | undefined])[]) =>
      all.map((one) => one.join(' ')).toSorted()
    await waitFor(() => made().length >= usable.length, { what: 'those that may be', timeoutMs: 100_000 })
    // The status of each object whose class may not be used says so.
    const told = async () =>
      JSON.stringify([
        (await api.list('/apis/events.k8s.io/v1/namespaces/classes/events')).items,
        ...(await Promise.all(Object.values(kinds).map(async ([at]) => (await api.list(at)).items))),
      ])
    await waitFor(
      async () => {
        const all = await told()
        return [
          'no class of load balancers named \\"for-others\\"',
          'named \\"unknown\\"',
          '\\"disabled\\" is disabled',
          'class full is 0',
        ].every((words) => all.split(words).length > Object.keys(kinds).length)
      },
      { what: 'refusals', timeoutMs: 100_000 },
    )
    expect(sorted(made())).toEqual(sorted(usable))

    // A class is disabled after use. Its load balancers go on and can be changed, and their objects' statuses say so.
    const documentOf = (kind: string, name: string) => {
      const owner = `classes/${kind.toLowerCase()}-${name}`
      return bed.spout.view
        .list('loadBalancer', { projectId: bed.project.id })
        .find(({ annotations }) => Object.values(annotations).includes(owner))
    }
    await admission.changeLoadBalancerClass(ids.get('used') ?? '', { enabled: false })
    // The notice that the control plane then adds (`offerNotice`); the bed's test statuses lack it.
    const message = 'Its class used was disabled. It keeps it.'
    const notice = { reason: 'LoadBalancerClassDisabled', message } as const
    const saysSo = async (kind: string) => {
      bed.confirm(documentOf(kind, 'used')!, { notice })
      const own =
        kind === 'Ingress' ? await events(kind) : [await api.get(`${kinds[kind]![0]}/${kind.toLowerCase()}-used`)]
      return JSON.stringify(own).includes(message)
    }
    const events = async (kind: string) =>
      (
        await api.list<KubeObject & { readonly regarding: { readonly name: string } }>(
          '/apis/events.k8s.io/v1/namespaces/classes/events',
        )
      ).items.filter(({ regarding }) => regarding.name === `${kind.toLowerCase()}-used`)
    const anyPath = { path: '/', pathType: 'Prefix', backend: { service: { name: 'none', port: { number: 80 } } } }
    const changes: Readonly<Record<string, object>> = {
      Service: { ports: [{ port: 80 }, { port: 81 }].map((one) => ({ ...one, name: `p${one.port}` })) },
      Ingress: { rules: [{ host: 'more.example', http: { paths: [anyPath] } }] },
      Gateway: { listeners: [80, 81].map((port) => ({ name: `p${port}`, port, protocol: 'HTTP' })) },
      LoadBalancer: { listeners: [80, 81].map((port) => ({ protocol: 'tcp', port })) },
    }
    for (const [kind, [at]] of Object.entries(kinds)) {
      await waitFor(() => saysSo(kind), { what: `${kind} to say that its class was disabled`, timeoutMs: 60_000 })
      const before = documentOf(kind, 'used')!
      await api.patch(`${at}/${kind.toLowerCase()}-used`, { spec: changes[kind] } as never)
      await waitFor(() => documentOf(kind, 'used')!.generation > before.generation, {
        what: `${kind} to be changed`,
        timeoutMs: 60_000,
      })
      expect(documentOf(kind, 'used')).toMatchObject({ id: before.id, classId: ids.get('used'), vips: before.vips })
    }

    // A change to a class that may not be used is refused, and the old one stays in force; one to an open class is made.
    const toClass: Readonly<Record<string, (name: string) => object>> = {
      Ingress: (name) => ({ ingressClassName: `classes-${name}` }),
      Gateway: (name) => ({ gatewayClassName: `classes-${name}` }),
      LoadBalancer: (name) => ({ class: name }),
    }
    for (const [kind, spec] of Object.entries(toClass)) {
      const path = `${kinds[kind]![0]}/${kind.toLowerCase()}-for-us`
      const before = documentOf(kind, 'for-us')!
      for (const [name, words] of [
        ['unknown', 'no class of load balancers named \\"unknown\\"'],
        ['for-others', 'no class of load balancers named \\"for-others\\"'],
        ['disabled', '\\"disabled\\" is disabled'],
        ['full', 'load balancers of class full is 0, 0 in use'],
      ] as const) {
        const count = async () => (await told()).split(words).length
        const countBefore = await count()
        await api.patch(path, { spec: spec(name) } as never)
        await waitFor(async () => (await count()) > countBefore, {
          what: `${kind} to be refused ${name}`,
          timeoutMs: 60_000,
        })
        expect(documentOf(kind, 'for-us')).toMatchObject({ id: before.id, classId: ids.get('for-us') })
      }
      await api.patch(path, { spec: spec('for-all') } as never)
      await waitFor(() => documentOf(kind, 'for-us')?.classId === ids.get('for-all'), {
        what: `${kind} to be of the other class`,
        timeoutMs: 60_000,
      })
    }

    // Objects of other controllers get no status. A LoadBalancer object is always ours.
    for (const [at, version] of created)
      if (at.endsWith('-foreign') && !at.includes('/loadbalancers/'))
        expect([at, (await api.get<KubeObject>(at)).metadata.resourceVersion]).toEqual([at, version])
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  }, 300_000)

  test('two rules with credentials of one project: nothing is begun for the second, and why is told', async () => {
    const tokenFile = path.join(directory, 'same.token')
    writeFileSync(tokenFile, token, { mode: 0o600 })
    const rules = [
      { name: 'one', namespaces: ['shop'], tokenFile },
      { name: 'two', default: true, tokenFile },
    ]
    const running = await start('same', ['spout.tokenFile=', `projects=${JSON.stringify(rules)}`])
    await bed.until('the reason', () =>
      running.lines().some(({ event, reason }) => event === 'cannot-begin' && String(reason).includes('one rule')),
    )
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  })

  test.each([
    ['no way to log in', ['spout.tokenFile='], 'spout.tokenFile: is not set'],
    ['two ways', ['spout.applicationCredentialId=x'], 'cannot be combined with'],
    ['unknown mode', ['services.mode=both'], 'services.mode'],
    [
      'rules beside a credential of all',
      ['projects=[{name: a, default: true, tokenFile: /t}]'],
      'spout.tokenFile: cannot be combined with projects',
    ],
    [
      'a rule about nothing',
      ['spout.tokenFile=', 'projects=[{name: a, tokenFile: /t}]'],
      'projects.0: has neither namespaces',
    ],
    [
      'two defaults',
      [
        'spout.tokenFile=',
        'projects=[{name: a, default: true, tokenFile: /t}, {name: b, default: true, tokenFile: /t}]',
      ],
      'projects.1.default',
    ],
    [
      'two rules of one name',
      [
        'spout.tokenFile=',
        'projects=[{name: a, namespaces: [x], tokenFile: /t}, {name: a, default: true, tokenFile: /t}]',
      ],
      'projects.1.name',
    ],
    [
      'a rule without credential',
      ['spout.tokenFile=', 'projects=[{name: a, default: true}]'],
      'projects.0.tokenFile: is not set',
    ],
    [
      'no name of a label',
      ['spout.tokenFile=', 'projects=[{name: a, namespaceLabels: {"a b": x}, tokenFile: /t}]'],
      'projects.0.namespaceLabels',
    ],
    [
      'rules for configuration',
      ['work=configuration', 'kubernetes.kubeconfig=/nowhere', 'projects=[{name: a, default: true, tokenFile: /t}]'],
      'projects: cannot be combined with work=configuration',
    ],
    ['no prefix', ['services.externalIPs=[192.0.2.1/24]'], 'services.externalIPs.0'],
    ['no kubeconfig there', ['kubernetes.kubeconfig=/nowhere'], '/nowhere'],
    ['no pod either', ['kubernetes.kubeconfig='], 'this is not a pod'],
  ])('wrong settings end it with code 2: %s', async (_, settings, told) => {
    const all = ['spout.tokenFile=/t', 'kubernetes.kubeconfig=/nowhere', ...settings]
    const child = spawn(process.execPath, [PROGRAM, ...all.flatMap((setting) => ['--set', setting])], { env: {} })
    let text = ''
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
    })
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(2)
    expect(text).toContain(told)
  })
})
