import { Endpoints } from '@spout/client/endpoints'
import { Transport } from '@spout/kube'
import { Secret, silentLogger, systemClock } from '@spout/runtime'
import { KubernetesCluster, Lab, LONGEST_BUILD_MS, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../../server/src/testing/test-bed.ts'
import { NativeCertificates } from '../control-plane/native-certificates.ts'
import { NamedSecrets } from './named-secrets.ts'
import { TlsCertificates } from './tls-certificates.ts'

const SECRETS = '/api/v1/namespaces/shop/secrets'
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/shop'

let lab: Lab
let cluster: KubernetesCluster
let spout: TestBed
let kept: TlsCertificates
/** The token of an account that may read two Secrets by name, and watch one of them. */
let transport: Transport
let projectId: string
let service: NativeCertificates
let made: () => TlsCertificates

const subject = { kind: 'ServiceAccount', name: 'reader', namespace: 'shop' }
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const dataOf = ({ certificate, key }: ReturnType<typeof issueCertificate>) => ({
  'tls.crt': base64(certificate),
  'tls.key': base64(key),
})
const issued = (name: string) => issueCertificate({ names: [name], days: 90 })
const put = (name: string, data: object) =>
  cluster.api.apply(`${SECRETS}/${name}`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'shop' },
    type: 'kubernetes.io/tls',
    data,
  })
const stored = () => spout.view.list('certificate', { projectId })
const until = <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 20_000 })

/** The certificate of a Secret, once there is one. */
const ready = (key: string) =>
  until(`a certificate of ${key}`, () => {
    const sight = kept.of(key)
    if (sight.type !== 'ready') throw new Error(JSON.stringify(sight))
    return sight
  })

beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  const { api } = cluster
  await api.create('/api/v1/namespaces', { metadata: { name: 'shop' } })
  await api.create('/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'reader' } })
  const rule = { apiGroups: [''], resources: ['secrets'] }
  await api.create(`${RBAC}/roles`, {
    metadata: { name: 'certificates' },
    rules: [
      { ...rule, resourceNames: ['web', 'late', 'broken'], verbs: ['get', 'watch'] },
      { ...rule, resourceNames: ['polled'], verbs: ['get'] },
    ],
  })
  await api.create(`${RBAC}/rolebindings`, {
    metadata: { name: 'certificates' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'certificates' },
    subjects: [subject],
  })
  const { status } = await api.create<object & { readonly status?: { readonly token: string } }>(
    '/api/v1/namespaces/shop/serviceaccounts/reader/token',
    { spec: { expirationSeconds: 3600 } } as object,
  )
  transport = new Transport({
    access: {
      server: new URL(api.access.url),
      ca: api.authority,
      tlsServerName: null,
      skipTlsVerify: false,
      token: { type: 'value', token: new Secret(status?.token ?? '') },
      clientCertificate: null,
      namespace: 'default',
    },
  })
  spout = await openTestBed()
  const endpoint = await spout.app.listen({ host: '127.0.0.1', port: 0 })
  projectId = (await spout.admission.createProject({ name: 'tenant', description: '' })).id
  const { token } = await spout.login('connector', projectId, 'balancer')
  service = new NativeCertificates({
    session: async () => ({ endpoints: new Endpoints([endpoint]), token }),
    forget: () => {},
  })
  made = () =>
    new TlsCertificates({
      ...{ transport, service, cluster: 'test', clock: systemClock, log: silentLogger() },
      namers: ['ingress'],
    })
  kept = made()
  kept.start()
}, LONGEST_BUILD_MS)
afterAll(async () => {
  await kept?.stop()
  transport?.close()
  await spout?.close()
  await cluster?.destroy()
  await lab?.destroy()
})

test('a Secret is read by its name, stored, replaced when it changes, and deleted when nothing names it', async () => {
  await put('web', dataOf(issued('a.example')))
  kept.name('ingress/one', new Set(['shop/web']))
  expect(await ready('shop/web')).toMatchObject({
    certificate: { name: 'shop/web', names: ['a.example'] },
    notice: null,
  })
  const [before] = stored()
  await put('web', dataOf(issued('b.example')))
  await until('replacement', () => stored()[0]?.names[0] === 'b.example')
  expect(stored().map(({ id }) => id)).toEqual([before?.id])

  kept.name('ingress/two', new Set(['shop/web']))
  kept.name('ingress/one', new Set())
  kept.complete('ingress')
  // The second object still names it: a change of the Secret still arrives.
  await put('web', dataOf(issued('c.example')))
  await until('replacement', () => stored()[0]?.names[0] === 'c.example')
  kept.name('ingress/two', new Set())
  await until('deletion', () => stored().length === 0)
})

test('what cannot be used is refused, and leaves the certificate before it', async () => {
  await put('broken', { 'tls.crt': base64('no certificate'), 'tls.key': base64('no key') })
  kept.name('ingress/one', new Set(['shop/broken', 'shop/late', 'shop/secret']))
  const refused = (key: string) =>
    until(`${key} to be refused`, () => {
      const now = kept.of(key)
      return now.type === 'refused' && now.refusal
    })
  expect(await refused('shop/broken')).toMatchObject({ reason: 'InvalidCertificate', field: 'data[tls.crt]' })
  expect(await refused('shop/late')).toMatchObject({ reason: 'SecretNotFound' })
  expect(await refused('shop/secret')).toMatchObject({ reason: 'SecretForbidden' })
  expect(stored()).toEqual([])

  await put('late', dataOf(issued('late.example')))
  await ready('shop/late')
  await cluster.api.delete(`${SECRETS}/late`)
  const sight = await until('a notice', () => {
    const now = kept.of('shop/late')
    return now.type === 'ready' && now.notice !== null && now
  })
  expect(sight).toMatchObject({ notice: { reason: 'SecretNotFound' }, certificate: { names: ['late.example'] } })
  kept.name('ingress/one', new Set())
  await until('deletion', () => stored().length === 0)
})

test('a Secret that may be read but not watched is used, and what an earlier process stored is found again', async () => {
  await put('polled', dataOf(issued('polled.example')))
  kept.name('ingress/one', new Set(['shop/polled']))
  await ready('shop/polled')
  const [before] = stored()
  await kept.stop()
  kept = made()
  kept.start()
  kept.name('ingress/one', new Set(['shop/polled']))
  await ready('shop/polled')
  expect(stored()).toEqual([before])
  kept.name('ingress/one', new Set())
  // Nothing is deleted before every kind has registered what it names.
  expect(stored()).toEqual([before])
  kept.complete('ingress')
  await until('deletion', () => stored().length === 0)
})

test('a Secret that is named again while its certificate is being deleted gets another', async () => {
  await put('late', dataOf(issued('again.example')))
  let isDeleting = false
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const certificates = new TlsCertificates({
    ...{ transport, cluster: 'test', clock: systemClock, log: silentLogger(), namers: ['gateway'] },
    service: {
      // The answer comes before the watch shows the change.
      watch: async function* (signal) {
        for await (const event of service.watch(signal)) {
          if (event.type === 'deleted') await answered
          yield event
        }
      },
      create: (...call) => service.create(...call),
      replace: (...call) => service.replace(...call),
      delete: async (id) => {
        isDeleting = true
        await released
        await service.delete(id)
        setImmediate(answer)
      },
    },
  })
  certificates.complete('gateway')
  certificates.start()
  const idOf = () => {
    const sight = certificates.of('shop/late')
    return sight.type === 'ready' && sight.certificate.id
  }
  try {
    certificates.name('gateway/one', new Set(['shop/late']))
    const first = await until('a certificate', idOf)
    certificates.name('gateway/one', new Set())
    await until('the deletion to begin', () => isDeleting)
    let isRead = false
    certificates.onChange(() => {
      isRead = true
    })
    certificates.name('gateway/two', new Set(['shop/late']))
    await until('the Secret to be read again', () => isRead)
    expect(idOf()).toBe(first)
    release()
    const second = await until('another certificate', () => idOf() !== first && idOf())
    await until('it to be stored', () => stored().some(({ id }) => id === second))
    expect(stored().map(({ id }) => id)).not.toContain(first)
  } finally {
    release()
    answer()
    await certificates.stop()
  }
})

test('a Secret that is deleted after it was read, and before its watch has begun, is gone', async () => {
  await put('late', dataOf(issued('late.example')))
  let reads = 0
  const between: Pick<Transport, 'request' | 'lines'> = {
    request: async (request) => {
      const answer = await transport.request(request)
      if (++reads === 1) await cluster.api.delete(`${SECRETS}/late`)
      return answer as never
    },
    lines: (request) => transport.lines(request),
  }
  const secrets = new NamedSecrets({
    ...{ transport: between as Transport, clock: systemClock, log: silentLogger() },
    onChange: () => {},
  })
  secrets.follow('shop/late')
  await until('its absence', () => JSON.stringify(secrets.of('shop/late')).includes('SecretNotFound'))
  await secrets.close()
})
