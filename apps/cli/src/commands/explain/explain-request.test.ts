import type { WayListener } from '@spout/plan/requests'
import { requestWay } from '@spout/plan/requests'
import { describe, expect, it } from 'vitest'
import { askedUrl } from './asked-url.ts'
import { explainRequestText, type RequestExplanation } from './explain-request-text.ts'
import type { ExplainedPool } from './explanation.ts'

const plain = { method: 'get', header: [] }

describe('a request that is typed', () => {
  it('is taken apart', () => {
    const { request, ...rest } = askedUrl('https://shop.example.com/cart?a=1', {
      ...{ method: 'post', header: ['X-Beta: 1', 'cookie:a=b'], client: '192.0.2.7' },
    })
    expect(rest).toEqual({ host: 'shop.example.com', port: 443 })
    expect(request).toMatchObject({
      method: 'POST',
      host: 'shop.example.com',
      path: '/cart',
      query: 'a=1',
      source: '192.0.2.7',
    })
    expect(request.headers).toEqual([
      ['X-Beta', '1'],
      ['cookie', 'a=b'],
    ])
    expect(askedUrl('http://[2001:db8::1]:81', plain)).toMatchObject({ host: '2001:db8::1', port: 81 })
  })

  it('is refused with what is wrong with it', () => {
    expect(() => askedUrl('ftp://a', plain)).toThrow('ftp://a: is not a URL')
    expect(() => askedUrl('http://a', { ...plain, header: ['beta'] })).toThrow('beta: is not a header')
    expect(() => askedUrl('http://a', { ...plain, client: '010.0.0.1' })).toThrow('010.0.0.1: is not an IP address')
  })
})

const member = (name: string, own: Partial<ExplainedPool['members'][number]> = {}) => ({
  ...{ id: name, name, address: '10.0.0.11', port: 80, weight: 1, health: 'up', reason: null, since: null, why: null },
  ...own,
})
const out = { health: 'down', reason: 'connection refused', since: '2026-02-01T00:00:00Z', why: 'it is down' }
const pool: ExplainedPool = {
  ...{ id: 'p', name: 'front', protocol: 'http', algorithm: 'round-robin', tls: null, monitored: true, panic: false },
  members: [member('one', { weight: 3 }), member('two'), member('three', out)],
}
const routes: WayListener['routes'] = [
  {
    enabled: true,
    conditions: [{ on: 'path', compare: 'elements', values: ['/admin'], not: false }],
    action: { type: 'respond', code: 403 },
  },
  { enabled: true, conditions: [], action: { type: 'forward', pools: [{ poolId: 'p', weight: 1 }] } },
]
const explanation = {
  loadBalancer: { id: 'lb', name: 'shop', projectId: 'x', enabled: true },
  returnPath: 'snat',
  listeners: [
    {
      ...{
        id: 'l',
        name: 'web',
        protocol: 'http',
        port: 80,
        answers: true,
        allowedCidrs: null,
        poolId: null,
        others: null,
      },
      routes: routes.map((route, at) => ({ ...route, id: `r${at}`, name: `route ${at}\u001b[31m` })),
    },
  ],
  pools: [pool],
} satisfies RequestExplanation
const textOf = (url: string) => {
  const { port, request } = askedUrl(url, plain)
  const way = requestWay(explanation, { transport: 'tcp', port, source: null }, request)
  return explainRequestText({ address: '198.51.100.16', port, owners: ['lb1'], explanation, way }, false)
}

it('its way is printed hop by hop, and nothing of a tenant reaches the terminal unescaped', () => {
  const text = textOf('http://shop.example.com/cart')
  expect(text).toMatch(/^Load balancer shop\nclient -> 198.51.100.16:80, announced by lb1\n {2}listen web: http 80\n/)
  expect(text).toContain('needs that path is under /admin; it is /cart')
  expect(text).toContain('    member one 10.0.0.11:80: 75 %\n    member two 10.0.0.11:80: 25 %\n')
  expect(text).toContain('three 10.0.0.11:80: out, it is down since 2026-02-01T00:00:00Z, connection refused\n  back ')
  expect(text).not.toContain('\u001b')
})

it('what the proxy answers, or nobody, is said', () => {
  expect(textOf('http://shop.example.com/admin/x')).toContain('  answer 403: The route answers itself.')
  expect(textOf('http://shop.example.com:81/')).toContain('  end    No listener has this port.')
})
