import { expect, it } from 'vitest'
import { explainText } from './explain-text.ts'
import type { Explanation } from './explanation.ts'

const listener = { routes: [], allowedCidrs: null, clientCertificates: null, why: null } as const
const EXPLANATION = {
  loadBalancer: { id: '1', name: 'shop' },
  state: { provisioning: 'active', reason: 'Programmed', message: 'The nodes have it.' },
  owner: null,
  ownerReason: { code: 'Placed', message: 'Placed.' },
  vips: [],
  listeners: [
    {
      ...listener,
      id: '2',
      name: 'names',
      protocol: 'tls-passthrough',
      port: 443,
      poolId: null,
      others: { id: '3', name: 'web' },
    },
    { ...listener, id: '4', name: 'dns', protocol: 'tcp', port: 53, poolId: '5' },
  ],
  pools: [
    {
      id: '5',
      name: 'p',
      algorithm: 'round-robin',
      tls: null,
      refusedPercent: 12.5,
      monitored: false,
      panic: false,
      members: [],
    },
  ],
  nodes: [],
  lastChange: { generation: 1, at: 'now', confirmedGeneration: 1, confirmedAt: null },
} as unknown as Explanation

it('tells of connections that are refused on purpose, and where what no route takes goes', () => {
  const text = explainText(EXPLANATION, false)
  expect(text).toContain('  listen names: tls-passthrough 443\n    others web of this port gets what no route takes\n')
  expect(text).toContain('    pool p: round-robin; 12.5 % of new connections are refused\n')
})
