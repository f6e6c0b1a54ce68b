import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { ensureCertManager, type Kubernetes, LONG_TESTS, LONGEST_BUILD_MS, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installGatewayApi } from '../../packages/intents/gateway/src/testing/install-gateway-api.fixture.ts'
import { SOLVER_IMAGE, startAcme } from './acme-lab.ts'
import { type PodAnswer, type ServiceLab, startServiceLab } from './service-lab.ts'
import { serviceBody, servicesIn } from './services.ts'
import { startWorkload } from './workloads.ts'

// cert-manager and pebble take minutes to build: with SPOUT_LONG_TESTS=1 alone.

const NETWORKING = '/apis/networking.k8s.io/v1'
const GATEWAY_VERSION = 'gateway.networking.k8s.io/v1'
const GATEWAYS = `/apis/${GATEWAY_VERSION}`
const CERT_VERSION = 'cert-manager.io/v1'
const ours = (group: string, plural: string) => `${group}/namespaces/default/${plural}`

interface Conditioned {
  readonly metadata: { readonly name: string; readonly uid?: string }
  readonly status?: {
    readonly conditions?: readonly Kubernetes.Condition[]
    readonly revision?: number
    readonly addresses?: readonly { readonly value: string }[]
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] }
  }
}

describe.runIf(LONG_TESTS)('cert-manager on a real Kubernetes', () => {
  let lab: ServiceLab
  let acme: Awaited<ReturnType<typeof startAcme>>
  let caFile: string

  const until = <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 240_000 })
  const issuer = (name: string, http01: object) =>
    lab.cluster.api.create(ours(`/apis/${CERT_VERSION}`, 'issuers'), {
      ...{ apiVersion: CERT_VERSION, kind: 'Issuer', metadata: { name } },
      spec: { acme: { ...acme.acme, privateKeySecretRef: { name: `${name}-account` }, solvers: [{ http01 }] } },
    })
  const certificate = (name: string) =>
    lab.cluster.api.get<Conditioned>(ours(`/apis/${CERT_VERSION}`, `certificates/${name}`))

  beforeAll(async () => {
    const programs = await ensureCertManager()
    lab = await startServiceLab({ images: { [SOLVER_IMAGE]: [programs.acmesolver] } })
    const { api } = lab.cluster
    await startWorkload(lab, { name: 'web', replicas: 1 })
    await api.create(servicesIn('default'), serviceBody('web', 'web', { type: 'ClusterIP' }))
    await installGatewayApi(api)
    await api.create(`${NETWORKING}/ingressclasses`, {
      metadata: { name: 'spout' },
      spec: { controller: 'spout.dev/ingress' },
    } as object)
    await api.create(`${GATEWAYS}/gatewayclasses`, {
      ...{ apiVersion: GATEWAY_VERSION, kind: 'GatewayClass', metadata: { name: 'spout' } },
      spec: { controllerName: 'spout.dev/gateway' },
    })
    acme = await startAcme(lab, programs)
    caFile = path.join(lab.system.lab.directory, 'acme-ca.pem')
    writeFileSync(caFile, await acme.authority())
  }, LONGEST_BUILD_MS)
  afterAll(() => lab?.destroy())

  /** The serial number of the certificate that a client is shown who checks it; null when it does not get an answer. */
  const serialAt = async (host: string, address: string): Promise<string | null> => {
    const to = ['--resolve', `${host}:443:${address}`, '--cacert', caFile]
    const argv = ['curl', '-sS', '--max-time', '5', ...to, '-w', '\n%{certs}', `https://${host}/`]
    const { code, stdout } = await lab.system.lab.run('client', argv)
    const [body = '', ...certs] = stdout.split('\n')
    if (code !== 0 || !body.startsWith('{')) return null
    expect((JSON.parse(body) as PodAnswer).pod).toMatch(/^web-/)
    return /Serial Number:(\w+)/.exec(certs.join('\n'))?.[1] ?? null
  }

  /** As `cmctl renew` does it. @returns how many requests were made meanwhile; each must be answered */
  const renewUnderLoad = async (name: string, host: string, address: string): Promise<number> => {
    const before = await serialAt(host, address)
    const { status } = await certificate(name)
    let [asked, failed, asking] = [0, 0, true]
    const load = (async () => {
      while (asking) {
        asked++
        if ((await serialAt(host, address)) === null) failed++
      }
    })()
    try {
      await lab.cluster.api.patch(ours(`/apis/${CERT_VERSION}`, `certificates/${name}/status`), {
        status: {
          conditions: [
            ...(status?.conditions ?? []),
            { type: 'Issuing', status: 'True', reason: 'ManuallyTriggered', message: 'Renewed by hand.' },
          ],
        },
      })
      await until('the next certificate', async () => ![null, before].includes(await serialAt(host, address)))
    } finally {
      asking = false
      await load
    }
    expect(failed).toBe(0)
    return asked
  }

  it('gets a certificate by HTTP-01 through an Ingress, and renews it with no failed request', async () => {
    const host = 'shop.example.org'
    await issuer('by-ingress', { ingress: { ingressClassName: 'spout' } })
    await lab.cluster.api.create(ours(NETWORKING, 'ingresses'), {
      metadata: { name: 'shop', annotations: { 'cert-manager.io/issuer': 'by-ingress' } },
      spec: {
        ingressClassName: 'spout',
        tls: [{ hosts: [host], secretName: 'shop-tls' }],
        rules: [
          {
            host,
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
            },
          },
        ],
      },
    } as object)
    const address = await until('the address', async () => {
      const { status } = await lab.cluster.api.get<Conditioned>(ours(NETWORKING, 'ingresses/shop'))
      return status?.loadBalancer?.ingress?.[0]?.ip ?? null
    })
    await acme.point(host, address)
    await until('a certificate', async () => (await serialAt(host, address)) !== null)
    expect(await renewUnderLoad('shop-tls', host, address)).toBeGreaterThan(5)
    const { items } = await lab.cluster.api.list<Conditioned>(ours(NETWORKING, 'ingresses'))
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['shop'])
  }, 600_000)

  it('gets one through a Gateway, by an HTTPRoute, and renews it likewise', async () => {
    const host = 'gate.example.org'
    await issuer('by-gateway', { gatewayHTTPRoute: { parentRefs: [{ name: 'gate', kind: 'Gateway' }] } })
    await lab.cluster.api.create(ours(GATEWAYS, 'gateways'), {
      ...{ apiVersion: GATEWAY_VERSION, kind: 'Gateway' },
      metadata: { name: 'gate', annotations: { 'cert-manager.io/issuer': 'by-gateway' } },
      spec: {
        gatewayClassName: 'spout',
        listeners: [
          { name: 'http', port: 80, protocol: 'HTTP' },
          {
            name: 'https',
            port: 443,
            protocol: 'HTTPS',
            hostname: host,
            tls: { certificateRefs: [{ name: 'gate-tls' }] },
          },
        ],
      },
    })
    await lab.cluster.api.create(ours(GATEWAYS, 'httproutes'), {
      ...{ apiVersion: GATEWAY_VERSION, kind: 'HTTPRoute', metadata: { name: 'gate' } },
      spec: {
        parentRefs: [{ name: 'gate' }],
        hostnames: [host],
        rules: [{ backendRefs: [{ name: 'web', port: 80 }] }],
      },
    })
    const address = await until('the address', async () => {
      const { status } = await lab.cluster.api.get<Conditioned>(ours(GATEWAYS, 'gateways/gate'))
      return status?.addresses?.[0]?.value ?? null
    })
    await acme.point(host, address)
    await until('a certificate', async () => (await serialAt(host, address)) !== null)
    expect(await renewUnderLoad('gate-tls', host, address)).toBeGreaterThan(5)
  }, 600_000)
})
