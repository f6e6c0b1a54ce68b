import { describe, expect, test } from 'vitest'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { ingress, ingressClass, rule } from '../testing/objects.ts'
import { gatewayApiOf } from './gateway-api.ts'
import { reportOf } from './report.ts'
import { reportText } from './report-text.ts'

const given = (
  name: string,
  annotations: Readonly<Record<string, string>>,
  rules = ['a.example / Prefix web'],
  more = {},
) =>
  ingress(
    name,
    1,
    { ingressClassName: 'nginx', rules: rules.map(rule), ...more },
    Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`${NGINX_PREFIX}${key}`, value])),
  )
const read = (...ingresses: readonly ReturnType<typeof given>[]) => reportOf({ ingresses, classes: [], services: [] })

describe('the report', () => {
  test('says of each annotation what becomes of it', () => {
    const units = read(
      given('one', {
        'app-root': '/shop',
        'proxy-read-timeout': '60',
        'limit-rate': '5',
        'canary-weight': 'many',
        unheard: 'x',
      }),
      given('two', { 'auth-url': 'http://auth' }, ['b.example / Prefix web'], { tls: [{ hosts: ['b.example'] }] }),
    )
    expect(units).toHaveLength(1)
    const [one, two] = units[0]!.ingresses.map(({ findings }) =>
      findings.map(({ outcome, about }) => `${outcome} ${about}`).sort(),
    )
    expect(one).toEqual([
      'differs proxy-read-timeout',
      'lost limit-rate',
      'lost unheard',
      'taken app-root',
      'taken canary-weight',
    ])
    expect(two).toEqual(['differs spec.tls', 'refused auth-url'])
    expect(reportText(units)).toContain('1 with paths that would answer 503')
    expect(reportText(units)).toContain('lost    limit-rate: bandwidth is not limited by response.')
  })

  test('is by namespace and class; classes of other controllers are left out', () => {
    const mine = given('one', {})
    const other = { ...mine, metadata: { ...mine.metadata, namespace: 'b' } }
    const foreign = { ...mine, spec: { ...mine.spec, ingressClassName: 'traefik' } }
    const classes = [
      ingressClass('nginx', { spec: { controller: 'k8s.io/ingress-nginx' } }),
      ingressClass('traefik', { spec: { controller: 'traefik.io/ingress-controller' } }),
    ]
    const units = reportOf({ ingresses: [mine, other, foreign], classes, services: [] })
    expect(units.map(({ namespace, ingresses }) => `${namespace} ${ingresses.length}`)).toEqual(['b 1', 'shop 1'])
  })
})

describe('Gateway API', () => {
  const objects = (...all: readonly ReturnType<typeof given>[]) => gatewayApiOf(read(...all))
  const rulesOf = (annotations: Readonly<Record<string, string>>, rules?: string[]) =>
    objects(given('one', annotations, rules)).objects.flatMap(({ kind, spec }) =>
      kind === 'Gateway' ? [] : spec['rules'],
    )

  test('a Gateway with the certificates, and a route for each host', () => {
    const made = objects(
      given('one', {}, ['a.example / Prefix web', 'a.example /x Exact next', '*.b.example / Prefix web'], {
        tls: [{ hosts: ['a.example'], secretName: 'a-tls' }],
      }),
    )
    expect(made.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Gateway ingress-nginx',
      'HTTPRoute one-0',
      'HTTPRoute one-1',
    ])
    expect(made.objects[0]?.spec).toMatchObject({
      gatewayClassName: 'spout',
      listeners: [
        { name: 'http', port: 80 },
        { name: 'https', port: 443, tls: { certificateRefs: [{ name: 'a-tls' }] } },
      ],
    })
    expect(made.objects[1]?.spec).toEqual({
      parentRefs: [{ name: 'ingress-nginx' }],
      hostnames: ['a.example'],
      rules: [
        { matches: [{ path: { type: 'Exact', value: '/x' } }], backendRefs: [{ name: 'next', port: 80 }] },
        { backendRefs: [{ name: 'web', port: 80 }] },
      ],
    })
    expect(made.notes.join()).toContain('*.b.example')
  })

  test('redirects to HTTPS are routes of the HTTP listener', () => {
    const made = objects(
      given('one', { 'force-ssl-redirect': 'true' }, undefined, { tls: [{ hosts: ['a.example'], secretName: 's' }] }),
    )
    expect(made.objects.slice(1).map(({ spec }) => spec)).toMatchObject([
      {
        parentRefs: [{ sectionName: 'http' }],
        rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 308 } }] }],
      },
      { parentRefs: [{ sectionName: 'https' }], rules: [{ backendRefs: [{ name: 'web' }] }] },
    ])
  })

  test('filters, time-outs, and canaries by weight and header', () => {
    expect(
      rulesOf({ 'rewrite-target': '/$2', 'proxy-read-timeout': '7' }, ['a.example /foo(/|$)(.*) Prefix web'])[0],
    ).toEqual({
      matches: [{ path: { type: 'PathPrefix', value: '/foo' } }],
      filters: [{ type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } } }],
      timeouts: { backendRequest: '7s' },
      backendRefs: [{ name: 'web', port: 80 }],
    })
    const canary = given('two', { canary: 'true', 'canary-weight': '20', 'canary-by-header': 'x' }, [
      'a.example / Prefix next',
    ])
    const made = objects(given('one', {}), canary)
    expect(made.objects[1]?.spec['rules']).toMatchObject([
      { matches: [{ headers: [{ type: 'Exact', name: 'x', value: 'always' }] }], backendRefs: [{ name: 'next' }] },
      { matches: [{ headers: [{ type: 'Exact', name: 'x', value: 'never' }] }], backendRefs: [{ name: 'web' }] },
      {
        backendRefs: [
          { name: 'web', weight: 80 },
          { name: 'next', weight: 20 },
        ],
      },
    ])
  })

  test('headers of a ConfigMap, which is not read, are said', () => {
    const made = objects(given('one', { 'custom-headers': 'shop/headers' }))
    expect(made.objects.map(({ kind }) => kind)).toEqual(['Gateway', 'HTTPRoute'])
    expect(made.notes).toEqual([expect.stringContaining('headers of ConfigMap shop/headers are not written')])
  })

  test.each([
    { 'auth-url': 'http://auth' },
    { 'auth-url': 'http://next.shop.svc' },
    { 'auth-type': 'basic', 'auth-secret': 'staff' },
    { 'whitelist-source-range': '10.0.0.0/8' },
  ])(
    'what would be open with %j is not written, and said',
    (annotations: Readonly<Record<string, string | undefined>>) => {
      const made = objects(given('one', annotations as Readonly<Record<string, string>>))
      expect(made.objects.map(({ kind }) => kind)).toEqual(['Gateway'])
      expect(made.notes).toEqual([expect.stringMatching(/^shop\/one: not written: .*would be open\.$/)])
    },
  )
})
