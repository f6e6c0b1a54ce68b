import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { powerOff, waitFor } from '@spout/testkit'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bothTakePart, shownVip } from '../announcing-group.ts'
import { type PodAnswer, type ServiceLab, startServiceLab } from './service-lab.ts'
import { serviceBody, servicesIn } from './services.ts'
import { startWorkload } from './workloads.ts'

const NETWORKING = '/apis/networking.k8s.io/v1'
const INGRESSES = `${NETWORKING}/namespaces/default/ingresses`

interface ShownIngress {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

const authority = issueCertificate({ isAuthority: true, commonName: 'lab authority' })

let lab: ServiceLab
let address: string
let caFile: string

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const secret = (name: string, host: string) => {
  const { certificate, key } = issueCertificate({ names: [host], issuer: authority })
  return lab.cluster.api.apply(`/api/v1/namespaces/default/secrets/${name}`, {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, type: 'kubernetes.io/tls' },
    data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
  })
}
const to = (name: string, at = '/') => ({
  path: at,
  pathType: 'Prefix',
  backend: { service: { name, port: { name: 'http' } } },
})
const ingress = (name: string, host: string, paths: readonly object[], annotations: object = {}) =>
  lab.cluster.api.create(INGRESSES, {
    metadata: { name, annotations },
    spec: {
      ingressClassName: 'spout',
      tls: [{ hosts: [host], secretName: `${name}-tls` }],
      rules: [{ host, http: { paths } }],
    },
  } as object)

const nginxIngress = (name: string, annotations: Readonly<Record<string, string>>, at: string) =>
  lab.cluster.api.create(INGRESSES, {
    metadata: {
      name,
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([key, value]) => [`nginx.ingress.kubernetes.io/${key}`, value]),
      ),
    },
    spec: {
      ingressClassName: 'spout',
      rules: [
        { host: `${name}.example.org`, http: { paths: [{ ...to('web', at), pathType: 'ImplementationSpecific' }] } },
      ],
    },
  } as object)

const AUTHORIZER_PORT = 9090
/** Lets whoever has the right token in, and only asks those who have none to sign in. */
const AUTHORIZER = `require('node:http').createServer(({ url, headers }, response) => {
  const codes = { 'Bearer open': 200, 'Bearer shut': 403 }
  response.writeHead(url === '/check' ? (codes[headers.authorization] ?? 401) : 404).end()
}).listen(${AUTHORIZER_PORT}, () => console.log('ready'))`

/** Hashes of `open sesame`. */
const BCRYPT = '$2b$10$56J/MIMRCISG9/Dp2POMO.f6Sb9xXl/.LVUI7tfnDpnexAJ5MgOki'
const APR1 = '$apr1$abcd$a4TJDqmci1Rx5yACpaKUk.'

/** Of ingress-controller-conformance; its other scenarios are in the tests of the compiler. */
const DEFAULT_BACKEND = [
  ['GET', 'my-host/'],
  ['GET', 'my-host/sub-path'],
  ['POST', 'some-host/'],
  ['PUT', 'any-host/resource'],
  ['DELETE', 'some-host/resource'],
  ['PATCH', 'my-host/resource'],
] as const

/** What curl says, as a client outside: certificates are checked. The body is empty for an error. */
const curl = async (url: string, ...more: readonly string[]) => {
  const { hostname, port, protocol } = new URL(url)
  const at = port || (protocol === 'https:' ? '443' : '80')
  const format = '\n%{http_code} %{redirect_url}'
  const asked = ['curl', '--silent', '--max-time', '5', '--cacert', caFile, '--write-out', format]
  const { stdout } = await lab.system.lab.run('client', [
    ...asked,
    '--resolve',
    `${hostname}:${at}:${address}`,
    ...more,
    url,
  ])
  const [body = '', line = ''] = stdout.split(/\n(?=\d{3} )/)
  const [status = '', redirect = ''] = line.split(' ')
  return { body, status: Number(status), redirect }
}
/** Of the certificate that clients of the shop are shown. */
const fingerprint = async (): Promise<string> => {
  const asked = `openssl s_client -connect ${address}:443 -servername shop.example.org </dev/null`
  return (
    await lab.system.lab.must('client', ['sh', '-c', `${asked} | openssl x509 -noout -fingerprint -sha256`])
  ).trim()
}
/** The workload that answers with 200; null for anything else. */
const appOf = async (url: string) => {
  const { body, status } = await curl(url).catch(() => ({ body: '', status: 0 }))
  return status === 200 ? ((JSON.parse(body) as PodAnswer).pod.split('-')[0] ?? '') : null
}
const until = <T>(what: string, probe: () => T | Promise<T>) => waitFor(probe, { what, timeoutMs: 60_000 })

beforeAll(async () => {
  lab = await startServiceLab()
  caFile = path.join(lab.system.lab.directory, 'ca.crt')
  writeFileSync(caFile, authority.certificate)
  const { api } = lab.cluster
  for (const name of ['web', 'cart']) {
    await startWorkload(lab, { name, replicas: 1 })
    await api.create(servicesIn('default'), serviceBody(name, name, { type: 'ClusterIP' }))
  }
  await api.create(`${NETWORKING}/ingressclasses`, {
    metadata: { name: 'spout' },
    spec: { controller: 'spout.dev/ingress' },
  } as object)
  await secret('shop-tls', 'shop.example.org')
  await secret('blog-tls', 'blog.example.org')
  await ingress('shop', 'shop.example.org', [to('web'), to('cart', '/cart')], { 'spout.dev/ssl-redirect': 'true' })
  await ingress('blog', 'blog.example.org', [to('cart')])
  address = await until('the address', async () => {
    const { status } = await api.get<ShownIngress>(`${INGRESSES}/shop`)
    return status?.loadBalancer?.ingress?.[0]?.ip ?? null
  })
}, 900_000)
afterAll(() => lab?.destroy())

describe('Ingresses on a real Kubernetes', () => {
  it('serve two hosts at one address by HTTPS, each with its own certificate', async () => {
    await until('the shop', async () => (await appOf('https://shop.example.org/')) === 'web')
    await until('the blog', async () => (await appOf('https://blog.example.org/')) === 'cart')
    expect(await appOf('https://shop.example.org/cart/1')).toBe('cart')
    expect(await appOf('https://shop.example.org/cartoon')).toBe('web')
    expect(await lab.loadBalancers()).toHaveLength(1)
  })

  it('serve HTTP, or send its clients to HTTPS where that is asked for', async () => {
    expect(await appOf('http://blog.example.org/')).toBe('cart')
    expect(await curl('http://shop.example.org/cart?a=b')).toMatchObject({
      status: 308,
      redirect: 'https://shop.example.org/cart?a=b',
    })
    expect((await curl('http://other.example.org/')).status).toBe(404)
  })

  it('do what annotations of ingress-nginx say, and close what they would protect', async () => {
    await nginxIngress('api', { 'rewrite-target': '/$2', 'x-forwarded-prefix': '/api' }, '/api(/|$)(.*)')
    await nginxIngress('inside', { 'whitelist-source-range': '192.0.2.0/24' }, '/')
    await nginxIngress('outside', { 'whitelist-source-range': '203.0.113.0/24', 'app-root': '/start' }, '/')
    await nginxIngress('locked', { 'auth-type': 'basic', 'auth-secret': 'users' }, '/')
    const status = async (host: string, at: string) => (await curl(`http://${host}.example.org${at}`)).status
    await until('the rewritten path', async () => (await appOf('http://api.example.org/api/x')) === 'web')
    // Those that were created later may be served later.
    await until('a shut one', async () => (await status('inside', '/')) === 403)
    await until('a redirect', async () => (await status('outside', '/')) === 302)
    await until('a locked one', async () => (await status('locked', '/')) === 503)
    expect(await status('api', '/API/x')).toBe(503)
    expect(await status('api', '/other')).toBe(404)
    expect(await curl('http://outside.example.org/')).toMatchObject({
      status: 302,
      redirect: 'http://outside.example.org/start',
    })
    expect(await appOf('http://outside.example.org/start')).toBe('web')
    // Six Ingresses, each with a host of its own.
    expect(await lab.loadBalancers()).toHaveLength(1)
  })

  it('ask an authorizer of the cluster, send clients to sign in, and open nothing when it is gone', async () => {
    const { system, cluster } = lab
    const authorizer = await system.lab.start('worker1', 'authorizer', [process.execPath, '-e', AUTHORIZER], {
      readyText: 'ready',
    })
    const [own = ''] = cluster.node('worker1').addresses
    await cluster.api.create(servicesIn('default'), {
      metadata: { name: 'auth' },
      spec: { ports: [{ name: 'http', port: 80, targetPort: AUTHORIZER_PORT }] },
    } as object)
    await cluster.api.create('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      metadata: { name: 'auth-1', labels: { 'kubernetes.io/service-name': 'auth' } },
      ...{ addressType: 'IPv4', ports: [{ name: 'http', port: AUTHORIZER_PORT, protocol: 'TCP' }] },
      endpoints: [{ addresses: [own], conditions: { ready: true } }],
    } as object)
    const signIn = 'https://login.example.org/start?rd=$escaped_request_uri'
    await nginxIngress('private', { 'auth-url': 'http://auth.default.svc/check', 'auth-signin': signIn }, '/')
    const url = 'http://private.example.org/account?a=b'
    await until('a client to be sent to sign in', async () => (await curl(url)).status === 302)
    expect((await curl(url)).redirect).toBe('https://login.example.org/start?rd=%2Faccount%3Fa%3Db')
    const { body, status } = await curl(url, '--header', 'Authorization: Bearer open')
    expect(status).toBe(200)
    expect(JSON.parse(body)).toMatchObject({ pod: expect.stringMatching(/^web-/), path: '/account?a=b' })
    expect((await curl(url, '--header', 'Authorization: Bearer shut')).status).toBe(403)
    await system.lab.stop(authorizer)
    await until('500', async () => (await curl(url, '--header', 'Authorization: Bearer open')).status === 500)
  })

  it('ask for the password of a user of a Secret, which is replaced under load', async () => {
    const users = (auth: string) =>
      lab.cluster.api.apply('/api/v1/namespaces/default/secrets/staff', {
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'staff', namespace: 'default' }, type: 'Opaque' },
        data: { auth: base64(auth) },
      })
    await users(`joe:${BCRYPT}\n`)
    await nginxIngress('staff', { 'auth-type': 'basic', 'auth-secret': 'staff', 'auth-realm': 'Staff' }, '/')
    const url = 'http://staff.example.org/'
    const as = async (user: string) => (await curl(url, '--user', user)).status
    await until('a client to be asked', async () => (await curl(url)).status === 401)
    expect((await curl(url, '--dump-header', '-')).body).toContain('Basic realm="Staff"')
    expect(await as('joe:open sesame')).toBe(200)
    expect(await as('joe:wrong')).toBe(401)
    expect(await as('ann:open sesame')).toBe(401)

    const codes = new Set<number>()
    let asking = true
    const load = (async () => {
      while (asking) codes.add(await as('joe:open sesame'))
    })()
    await users(`joe:${APR1}\nann:${BCRYPT}\n`)
    await until('another user', async () => (await as('ann:open sesame')) === 200)
    asking = false
    await load
    expect([...codes]).toEqual([200])
    await users(`ann:${BCRYPT}\n`)
    await until('a user to be taken out', async () => (await as('joe:open sesame')) === 401)
    await lab.cluster.api.delete('/api/v1/namespaces/default/secrets/staff')
    await until('closed paths', async () => (await as('ann:open sesame')) === 503)
  })

  it('spread requests over all pods of a default backend, whatever host, path and method', async () => {
    await startWorkload(lab, { name: 'many', replicas: 10 })
    await lab.cluster.api.create(servicesIn('default'), serviceBody('many', 'many', { type: 'ClusterIP' }))
    await lab.cluster.api.create(INGRESSES, {
      metadata: { name: 'rest' },
      spec: { ingressClassName: 'spout', defaultBackend: { service: { name: 'many', port: { name: 'http' } } } },
    } as object)
    await until('the default backend', async () => (await appOf('http://load-balancing/')) === 'many')
    const pods = new Set<string>()
    await until('all ten pods', async () => {
      const { body, status } = await curl('http://load-balancing/')
      if (status === 200) pods.add((JSON.parse(body) as PodAnswer).pod)
      return pods.size === 10
    })
    for (const [method, url] of DEFAULT_BACKEND) {
      const { status } = await curl(`http://${url}`, '--request', method)
      expect(`${method} ${url} ${status}`).toBe(`${method} ${url} 200`)
    }
    await lab.cluster.api.delete(`${INGRESSES}/rest`)
  })

  it('show a replaced certificate, and fail no request meanwhile', async () => {
    const before = await fingerprint()
    let failed = 0
    let asking = true
    const load = (async () => {
      while (asking) if ((await appOf('https://shop.example.org/')) !== 'web') failed++
    })()
    await secret('shop-tls', 'shop.example.org')
    await until('the new certificate', async () => (await fingerprint()) !== before)
    asking = false
    await load
    expect(failed).toBe(0)
  })

  it('leave an address with the others that share it', async () => {
    await lab.cluster.api.delete(`${INGRESSES}/blog`)
    await until('404', async () => (await curl('http://blog.example.org/')).status === 404)
    expect(await appOf('https://shop.example.org/')).toBe('web')
  })

  it('go on at the other node, with their certificate, when the one that has the address loses its power', async () => {
    await bothTakePart(lab.system)
    const before = await fingerprint()
    const own = (await lab.loadBalancers()).find(({ vips }) => vips[0]?.address === address)
    const owner = await until('an owner', async () => (await shownVip(lab.system, own!)).owners[0])
    await powerOff(lab.system.lab, owner)
    await until('HTTPS at the other node', async () => (await appOf('https://shop.example.org/cart/1')) === 'cart')
    expect(await fingerprint()).toBe(before)
  })
})
