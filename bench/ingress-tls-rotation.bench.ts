/**
 * Secrets of an Ingress with as many hosts are renewed, one after the other, while clients make new TLS connections all
 * the time: from before the write of the Secret until a client is shown the new certificate.
 */
import { type Issued, type KubernetesApi, waitFor } from '@spout/testkit'
import { CERTIFICATES_OF_LISTENER, fingerprint, HTTPS_PORT, issueNames } from './bed/https.ts'
import { compile, LineProgram } from './bed/native.ts'
import { proxyProcesses } from './bed/processes.ts'
import { withGateways } from './gateway/gateway-bed.ts'
import { createBackend } from './gateway/objects.ts'
import { forEachNumber } from './kubernetes/objects.ts'
import { distribution, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const CLIENTS = 4
const PAUSE_US = 2000
const options = benchOptions()
const COUNT = options.quick ? 20 : CERTIFICATES_OF_LISTENER
const NETWORKING = '/apis/networking.k8s.io/v1'
const INGRESSES = `${NETWORKING}/namespaces/default/ingresses`
const SECRETS = '/api/v1/namespaces/default/secrets'

const hostOf = (n: number): string => `s${n}.example.com`
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const dataOf = ({ certificate, key }: Issued) => ({ 'tls.crt': base64(certificate), 'tls.key': base64(key) })

interface ShownIngress {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

/** One Ingress with a host and a Secret for each certificate. @returns its address */
async function createIngress(api: KubernetesApi, issued: readonly Issued[]): Promise<string> {
  await api.create(`${NETWORKING}/ingressclasses`, {
    metadata: { name: 'spout' },
    spec: { controller: 'spout.dev/ingress' },
  })
  await forEachNumber(0, issued.length, (n) =>
    api.create(SECRETS, { metadata: { name: `s${n}` }, type: 'kubernetes.io/tls', data: dataOf(issued[n]!) }),
  )
  const backend = { service: { name: 'backend', port: { number: 80 } } }
  await api.create(INGRESSES, {
    metadata: { name: 'shop' },
    spec: {
      ingressClassName: 'spout',
      tls: issued.map((_, n) => ({ hosts: [hostOf(n)], secretName: `s${n}` })),
      rules: issued.map((_, n) => ({
        host: hostOf(n),
        http: { paths: [{ path: '/', pathType: 'Prefix', backend }] },
      })),
    },
  })
  return waitFor(
    async () => (await api.get<ShownIngress>(`${INGRESSES}/shop`)).status?.loadBalancer?.ingress?.[0]?.ip ?? null,
    { what: 'the Ingress to have an address', timeoutMs: 60_000, everyMs: 100 },
  )
}

await withGateways(async (bed) => {
  const { lab, cluster } = bed
  const { api } = cluster
  await createBackend(api, 'backend')
  const [issued, renewed] = [await issueNames(lab, COUNT), await issueNames(lab, COUNT)]
  const address = await createIngress(api, issued)
  const url = `https://${hostOf(COUNT - 1)}/`
  const resolved = ['--resolve', `${hostOf(COUNT - 1)}:${HTTPS_PORT}:${address}`]
  await waitFor(
    async () => (await lab.run('client', ['curl', '-skf', '--max-time', '2', ...resolved, url])).code === 0,
    { what: 'the Ingress to answer', timeoutMs: 60_000 },
  )
  const program = await compile(lab, 'tls-handshakes', ['ssl', 'crypto'])
  const argv = [program, address, HTTPS_PORT, CERTIFICATES_OF_LISTENER, COUNT, CLIENTS, PAUSE_US].map(String)
  await using clients = new LineProgram(lab, 'client', argv)
  const before = await proxyProcesses(lab)
  const shownMs: number[] = []
  for (const [n, certificate] of renewed.entries()) {
    const startedNs = process.hrtime.bigint()
    const shown = clients.ask(`until ${n} ${fingerprint(certificate)}`)
    await api.patch(`${SECRETS}/s${n}`, { data: dataOf(certificate) })
    const shownNs = BigInt(await shown)
    if (shownNs < 0n) throw new Error(`the renewed certificate of ${hostOf(n)} was never shown`)
    shownMs.push(Number(shownNs - startedNs) / 1e6)
  }
  const [handshakes = 0, failed = Number.NaN] = (await clients.ask('count')).split(' ').map(Number)
  const reloads = (await proxyProcesses(lab)).filter((process) => !before.includes(process)).length
  printRow(
    {
      name: 'ingress-tls-rotation',
      ours: { failedHandshakes: failed, ...spread(shownMs) },
      peer: null,
      comparedWith: 'nothing: the bound is absolute',
      ratio: null,
      goal: '100 Secrets renewed under load: 0 failed handshakes',
      pass: failed === 0 && handshakes > 0,
      detail: { secrets: COUNT, clients: CLIENTS, handshakes, reloads },
      distributions: { 'write of the Secret until it is shown': distribution(shownMs) },
    },
    options,
  )
})
