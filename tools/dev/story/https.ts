import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { callApi, issueCertificate, type Lab, type SystemAccess, waitFor } from '@spout/testkit'
import type { Teller } from './teller.ts'
import type { DemoTenant } from './tenant.ts'

const NAMES = ['shop.example.com', 'blog.example.com'] as const
const LOAD_BALANCER = 'sites'

interface Shown {
  readonly vips: readonly { readonly address: string; readonly poolId: string | null }[]
  readonly status: { readonly provisioning: string }
}

/**
 * One load balancer ends TLS for two host names, each with a certificate and a member of its own, and sends clients of
 * HTTP there.
 */
export async function twoSites(
  lab: Lab,
  access: SystemAccess,
  { tenant, token }: { readonly tenant: DemoTenant; readonly token: string },
  teller: Teller,
): Promise<void> {
  const api = <T>(method: string, what: string, body?: object) => callApi<T>(access.endpoint, token, method, what, body)
  const authority = issueCertificate({ isAuthority: true, alternatives: '' })
  writeFileSync(path.join(lab.directory, 'authority.pem'), authority.certificate)
  const certificateIds: string[] = []
  for (const name of NAMES) {
    const { certificate, key } = issueCertificate({ names: [name], issuer: authority })
    const { id } = await api<{ id: string }>('POST', '/certificates', { name, chain: certificate, key })
    certificateIds.push(id)
  }
  const { items } = await api<{ items: Shown[] }>('GET', `/load-balancers?name=${tenant.loadBalancer}`)
  const document = documentOf(items[0]?.vips[0]?.poolId ?? null, certificateIds)
  const { id } = await api<{ id: string }>('POST', '/load-balancers', document)
  const { vips } = await waitFor(
    async () => {
      const shown = await api<Shown>('GET', `/load-balancers/${id}`)
      return shown.status.provisioning === 'active' && shown
    },
    { what: `${LOAD_BALANCER} to be active`, everyMs: 20 },
  )
  const vip = vips[0]?.address ?? ''
  teller.event(`${tenant.project}: two certificates, and ${LOAD_BALANCER} at ${vip}, which routes by host`)
  for (const name of NAMES) {
    const said = await curl(lab, vip, `https://${name}/`, '-v')
    const shown = /matched cert's "([^"]+)"/.exec(said)?.[1] ?? 'somebody else'
    const member = /"member":"([^"]+)"/.exec(said)?.[1] ?? 'nobody'
    teller.event(`https://${name}/ shows the certificate of ${shown}; ${member} answers`)
  }
  const form = ['-o', '/dev/null', '-w', '%{http_code} to %{redirect_url}']
  teller.event(`http://${NAMES[0]}/ is answered with ${await curl(lab, vip, `http://${NAMES[0]}/`, ...form)}`)
}

const documentOf = (poolId: string | null, certificateIds: readonly string[]) => ({
  name: LOAD_BALANCER,
  vips: [{ from: 'pool', poolId }],
  pools: NAMES.map((name, at) => ({
    name,
    protocol: 'http',
    members: [{ name: `member${at + 1}`, address: `10.0.0.${11 + at}`, port: 8080 }],
  })),
  listeners: [
    {
      name: 'secure',
      protocol: 'https',
      port: 443,
      tls: { certificateIds },
      routes: NAMES.map((name) => ({
        name,
        conditions: [{ on: 'host', compare: 'exact', values: [name] }],
        action: { type: 'forward', pools: [{ pool: name }] },
      })),
    },
    {
      name: 'plain',
      protocol: 'http',
      port: 80,
      routes: [{ name: 'to-https', action: { type: 'redirect', code: 301, scheme: 'https' } }],
    },
  ],
})

/** What curl prints, with the demo's authority. */
async function curl(lab: Lab, vip: string, url: string, ...options: readonly string[]): Promise<string> {
  const { hostname } = new URL(url)
  const to = [80, 443].flatMap((port) => ['--resolve', `${hostname}:${port}:${vip}`])
  const trusted = ['--cacert', path.join(lab.directory, 'authority.pem')]
  const { stdout, stderr } = await lab.run('client', ['curl', '-sS', '-m', '5', ...trusted, ...to, ...options, url])
  return stdout + stderr
}
