import type { CertificateSight, LoadBalancerContent } from '@spout/connector'
import type { Ingress, Service } from '@spout/kube'
import { describe, expect, test } from 'vitest'
import { backend, ingress, rule, service, uid } from '../testing/objects.ts'
import { type Compiled, compile } from './compile.ts'
import type { Surroundings } from './surroundings.ts'

const SERVICES: Readonly<Record<string, Service>> = {
  'shop/web': service('web'),
  'shop/cart': service('cart', {
    ports: [
      { name: 'http', port: 80 },
      { name: 'admin', port: 9000 },
    ],
  }),
  'shop/old': service('old'),
  'shop/evil': service('evil', { type: 'ExternalName', externalName: 'metadata.internal' }),
}
const stored = (id: string, names: readonly string[]): CertificateSight => ({
  type: 'ready',
  certificate: { id: uid(900 + Number(id)), name: '', tags: [], names },
  notice: null,
})
const CERTIFICATES: Readonly<Record<string, CertificateSight>> = {
  'shop/one': stored('1', ['a.example']),
  'shop/two': stored('2', ['*.b.example']),
  'shop/late': { type: 'waits' },
  'shop/bad': { type: 'refused', refusal: { reason: 'InvalidCertificate', field: 'data[tls.key]', message: 'No.' } },
}
const around: Surroundings = {
  cluster: 'c1',
  loadBalancerClass: null,
  service: (key) => SERVICES[key],
  slices: () => [],
  certificate: (key) =>
    CERTIFICATES[key] ?? { type: 'refused', refusal: { reason: 'SecretNotFound', field: 'secret', message: 'None.' } },
  configMap: () => null,
  families: [4],
  domains: [],
}
const compiled = (...all: readonly Ingress[]): Compiled => compile(all, around)
const routesOf = ({ content }: Compiled, protocol = 'http') =>
  (content.listeners.find((one) => one.protocol === protocol)?.routes ?? []).filter(({ name }) => name !== 'not-found')
/** `host/path service` for people: `=` before an exact path, `~` before the elements of one. */
const shownRoutes = (of: Compiled, protocol = 'http'): readonly string[] =>
  routesOf(of, protocol).map(({ conditions, action }) => {
    const texts = conditions.map((one) => {
      const [value] = 'values' in one ? one.values : []
      if (one.on === 'host') return 'compare' in one && one.compare === 'one-label' ? `*.${value}` : value
      return 'compare' in one && one.compare === 'exact' ? `=${value}` : `~${value}`
    })
    const to = action.type === 'forward' ? action.pools[0]?.pool : action.type === 'respond' ? action.code : 'redirect'
    return `${texts.join(' ')} ${to}`.trim()
  })
const problemsOf = ({ problems }: Compiled, one: Ingress) =>
  (problems.get(one.metadata.uid ?? '') ?? []).map(({ reason, field }) => `${reason} ${field}`)

describe('rules', () => {
  test('are tried from the most specific on: host, wildcard, none; exact paths, long prefixes, short ones', () => {
    const all = ingress('all', 1, {
      defaultBackend: backend('old'),
      rules: [
        rule('- / Prefix web'),
        rule('- /foo Prefix web'),
        rule('*.b.example / Prefix web'),
        rule('*.x.b.example / Prefix web'),
        rule('A.example /foo/ Prefix cart'),
        rule('a.example /foo/bar Prefix web'),
        rule('a.example /foo Exact web'),
        rule('a.example / Prefix web'),
      ],
    })
    expect(shownRoutes(compiled(all))).toEqual([
      'a.example =/foo shop/web:80',
      'a.example ~/foo/bar shop/web:80',
      'a.example ~/foo shop/cart:80',
      'a.example shop/web:80',
      '*.x.b.example shop/web:80',
      '*.b.example shop/web:80',
      '~/foo shop/web:80',
      'shop/web:80',
      'shop/old:80',
    ])
  })

  test('of several Ingresses are merged, one pool for each port of a Service', () => {
    const one = ingress('one', 1, { rules: [rule('a.example / Prefix web')] })
    const two = ingress('two', 2, {
      rules: [
        rule('c.example / Prefix web'),
        { host: 'd.example', http: { paths: [{ path: '/', pathType: 'Prefix', backend: backend('cart', 'admin') }] } },
      ],
    })
    const made = compiled(two, one)
    expect(made.content.pools.map(({ name }) => name)).toEqual(['shop/cart:9000', 'shop/web:80'])
    expect(made.content).toMatchObject({
      name: 'shop/one',
      annotations: {
        'kubernetes.cluster': 'c1',
        [`kubernetes.ingress.${uid(1)}`]: 'shop/one',
        [`kubernetes.ingress.${uid(2)}`]: 'shop/two',
      },
    })
    expect([...made.services].sort()).toEqual(['shop/cart', 'shop/web'])
    expect(made.problems.size).toBe(0)
  })

  test('of the same host and path: the oldest wins, and both are told', () => {
    const old = ingress('old', 1, { rules: [rule('a.example /x Prefix old')] })
    const young = ingress('young', 2, { rules: [rule('a.example /x/ Prefix web'), rule('a.example /y Prefix web')] })
    const made = compiled(young, old)
    expect(shownRoutes(made)).toEqual(['a.example ~/x shop/old:80', 'a.example ~/y shop/web:80'])
    expect(problemsOf(made, young)).toEqual(['DuplicateRule spec.rules[0].http.paths[0]'])
    expect(problemsOf(made, old)).toEqual(['DuplicateRule spec.rules[0].http.paths[0]'])
  })

  test('have one default backend, that of the oldest', () => {
    const old = ingress('old', 1, { defaultBackend: backend('old') })
    const young = ingress('young', 2, { defaultBackend: backend('web') })
    const made = compiled(young, old)
    expect(shownRoutes(made)).toEqual(['shop/old:80'])
    expect(problemsOf(made, young)).toEqual(['DuplicateRule spec.defaultBackend'])
  })

  test('with ImplementationSpecific are as with Prefix', () => {
    const one = ingress('one', 1, { rules: [rule('a.example /x ImplementationSpecific web')] })
    expect(shownRoutes(compiled(one))).toEqual(['a.example ~/x shop/web:80'])
  })
})

describe('what cannot be served', () => {
  const backends = {
    'a Service that is missing': [backend('none'), 'BackendNotFound'],
    'a port that is missing': [backend('web', 81), 'BackendPortNotFound'],
    'an ExternalName': [backend('evil'), 'UnsupportedBackend'],
    'a resource': [{ resource: { kind: 'StorageBucket', name: 'b' } }, 'UnsupportedBackend'],
  } as const
  test.each(Object.entries(backends))('%s is answered with 503, and the other rules are served', (_what, given) => {
    const [wrong, reason] = given
    const broken = ingress('broken', 1, {
      rules: [{ host: 'a.example', http: { paths: [{ path: '/x', pathType: 'Prefix', backend: wrong }] } }],
    })
    const good = ingress('good', 2, { rules: [rule('a.example / Prefix web')] })
    const made = compiled(broken, good)
    expect(shownRoutes(made)).toEqual(['a.example ~/x 503', 'a.example shop/web:80'])
    expect(problemsOf(made, broken)[0]).toMatch(new RegExp(`^${reason} spec.rules\\[0\\].http.paths\\[0\\]`))
    expect(problemsOf(made, good)).toEqual([])
  })

  test('a host or path that no listener takes is left out, and said', () => {
    const hosts = ['a b', 'x\n.example', `${'l.'.repeat(9)}example`, '-;del map', 'a'.repeat(300)]
    const broken = ingress('broken', 1, {
      rules: [
        ...hosts.map((host) => ({ ...rule('a.example / Prefix web'), host: `*.${host}` })),
        rule('a.example /\u0000x Prefix web'),
      ],
    })
    const good = ingress('good', 2, { rules: [rule('a.example / Prefix web')] })
    const made = compiled(broken, good)
    expect(shownRoutes(made)).toEqual(['a.example shop/web:80'])
    expect(problemsOf(made, broken)).toHaveLength(hosts.length + 1)
    expect(problemsOf(made, broken).every((text) => text.startsWith('InvalidRoute spec.rules['))).toBe(true)
  })

  test('an Ingress without anything is no problem', () => {
    for (const spec of [{}, { rules: [] }, { rules: [{ host: 'a.example' }] }, { tls: [{}] }])
      expect(compiled(ingress('empty', 1, spec)).problems.size).toBe(0)
  })
})

describe('TLS', () => {
  const tlsOf = ({ content }: Compiled) => content.listeners.find(({ protocol }) => protocol === 'https')?.tls

  test('there is an HTTPS listener with the same rules and all certificates, that of the oldest first', () => {
    const one = ingress('one', 1, {
      tls: [{ secretName: 'two', hosts: ['x.b.example'] }],
      rules: [rule('x.b.example / Prefix web')],
    })
    const two = ingress('two', 2, { tls: [{ secretName: 'one', hosts: ['a.example'] }, { secretName: 'two' }] })
    const made = compiled(two, one)
    expect(tlsOf(made)?.certificateIds).toEqual([uid(902), uid(901)])
    expect(shownRoutes(made, 'https')).toEqual(shownRoutes(made))
    expect(made.problems.size).toBe(0)
  })

  test('without a usable certificate there is none, and the reason is told', () => {
    const one = ingress('one', 1, { tls: [{ secretName: 'bad' }, { secretName: 'missing' }, { secretName: 'late' }] })
    const made = compiled(one)
    expect(tlsOf(made)).toBeUndefined()
    expect(problemsOf(made, one)).toEqual([
      'InvalidCertificate spec.tls[0].secretName',
      'SecretNotFound spec.tls[1].secretName',
    ])
  })

  test('a certificate for another host is shown, and said', () => {
    const one = ingress('one', 1, { tls: [{ secretName: 'two', hosts: ['a.example'] }] })
    const made = compiled(one)
    expect(tlsOf(made)?.certificateIds).toEqual([uid(902)])
    expect(problemsOf(made, one)).toEqual(['CertificateForOtherHosts spec.tls[0].hosts'])
  })

  test('an annotation sends clients of hosts with TLS there, and no others', () => {
    const one = ingress(
      'one',
      1,
      {
        tls: [{ secretName: 'one', hosts: ['a.example'] }],
        rules: [rule('a.example / Prefix web'), rule('c.example / Prefix web')],
      },
      { 'spout.dev/ssl-redirect': 'true' },
    )
    const made = compiled(one)
    expect(shownRoutes(made)).toEqual(['a.example redirect', 'c.example shop/web:80'])
    expect(shownRoutes(made, 'https')).toEqual(['a.example shop/web:80', 'c.example shop/web:80'])
  })

  test('an annotation that is not understood is said', () => {
    const one = ingress('one', 1, {}, { 'spout.dev/ssl-redirect': 'maybe' })
    const two = ingress('two', 2, {}, { 'spout.dev/sslredirect': 'true' })
    const made = compiled(one, two)
    expect(problemsOf(made, one)).toEqual(['InvalidAnnotation metadata.annotations[spout.dev/ssl-redirect]'])
    expect(problemsOf(made, two)).toEqual(['UnknownAnnotation metadata.annotations[spout.dev/sslredirect]'])
  })
})

test('equal Ingresses give an equal document in whatever order they come', () => {
  let seed = 7
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  const pick = <T>(all: readonly T[]): T => all[random(all.length)]!
  const hosts = ['-', 'a.example', '*.b.example', 'x.b.example', '*.x.b.example']
  const paths = ['/', '/foo', '/foo/', '/foo/bar', '/Foo']
  const types = ['Exact', 'Prefix', 'ImplementationSpecific']
  for (let turn = 0; turn < 100; turn++) {
    const all = Array.from({ length: 1 + random(5) }, (_, at) =>
      ingress(`i${at}`, random(3), {
        rules: Array.from({ length: random(5) }, () =>
          rule(`${pick(hosts)} ${pick(paths)} ${pick(types)} ${pick(['web', 'cart', 'none'])}`),
        ),
        ...(random(2) === 0 ? {} : { defaultBackend: backend(pick(['web', 'old'])) }),
      }),
    ).map((one, at) => ({ ...one, metadata: { ...one.metadata, uid: uid(at) } }))
    const content: LoadBalancerContent = compiled(...all).content
    expect(compiled(...all.toReversed()).content).toEqual(content)
    const names = content.listeners.flatMap(({ routes = [] }) => routes.map(({ name }) => name))
    expect(new Set(names).size).toBe(names.length)
  }
})

describe('names', () => {
  const domains = ['*.example']
  const HOSTNAME = 'external-dns.alpha.kubernetes.io/hostname'

  test('are the hosts of rules and of TLS, and those of the annotation, of all Ingresses at the address', () => {
    const older = ingress('older', 1, { rules: [rule('b.example / Prefix web'), rule('- / Prefix web')] })
    const younger = ingress(
      'younger',
      2,
      { rules: [rule('A.example / Prefix web')], tls: [{ hosts: ['a.example', 't.example'], secretName: 'one' }] },
      { [HOSTNAME]: 'n.example', 'external-dns.alpha.kubernetes.io/ttl': '60' },
    )
    const { content, problems } = compile([younger, older], { ...around, domains })
    expect(content.dnsNames).toEqual(['b.example', 'n.example', 'a.example', 't.example'])
    expect(content.dnsTtlSeconds).toBe(60)
    expect(problems.get(uid(1))).toBeUndefined()
  })

  test('that the project may not have are told, and its hosts are served all the same', () => {
    const one = ingress('one', 1, { rules: [rule('a.example / Prefix web'), rule('x.org / Prefix web')] })
    const made = compile([one], { ...around, domains })
    expect(made.content.dnsNames).toEqual(['a.example'])
    expect(problemsOf(made, one)).toEqual(['NameRefused spec.rules[1].host'])
    expect(routesOf(made)).toHaveLength(2)
  })

  test('are none in a project without domains, of which nothing is told', () => {
    const one = ingress('one', 1, { rules: [rule('a.example / Prefix web')] })
    const made = compiled(one)
    expect(made.content.dnsNames).toBeUndefined()
    expect(problemsOf(made, one)).toEqual([])
  })

  test('beyond the first sixteen are told', () => {
    const names = (from: string, count: number) => Array.from({ length: count }, (_, at) => `${from}${at}.example`)
    const asking = (age: number, hosts: readonly string[]) =>
      ingress(`i${age}`, age, { rules: hosts.map((host) => rule(`${host} / Prefix web`)) })
    const [old, late] = [asking(1, names('a', 16)), asking(2, names('b', 1))]
    const made = compile([late, old], { ...around, domains })
    expect(made.content.dnsNames).toEqual(names('a', 16))
    expect(problemsOf(made, old)).toEqual([])
    expect(problemsOf(made, late).join()).toContain('TooManyNames')
  })
})
