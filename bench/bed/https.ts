import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { callApi, FAST_PORTS, type Issued, type Lab, memberAddress, must, type Tenant, waitFor } from '@spout/testkit'
import type { SpoutBed } from './spout-bed.ts'

/** The first port of HTTPS listeners. */
export const HTTPS_PORT = 443
/** The most that a listener takes: more certificates are on listeners at the ports behind. */
export const CERTIFICATES_OF_LISTENER = 100

const ISSUED_AT_ONCE = 8

/** Certificates of s0.example.com, s1.example.com and so on, as `programs/tls-handshakes.c` asks for them. */
export async function issueNames({ directory }: Lab, count: number): Promise<readonly Issued[]> {
  const config = path.join(directory, 'issue.cnf')
  writeFileSync(config, '[req]\ndistinguished_name=name\n[name]\n')
  const form = [
    '-config',
    config,
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '90',
    '-keyout',
    '-',
    '-out',
    '-',
  ]
  const issued: Issued[] = []
  let next = 0
  const worker = async () => {
    while (next < count) {
      const n = next++
      const names = ['-subj', `/O=Spout bench/CN=s${n}`, '-addext', `subjectAltName=DNS:s${n}.example.com`]
      const said = await must(['openssl', 'req', '-x509', ...form, ...names])
      issued[n] = { certificate: block(said, 'CERTIFICATE'), key: block(said, 'PRIVATE KEY') }
    }
  }
  await Promise.all(Array.from({ length: ISSUED_AT_ONCE }, worker))
  return issued
}

const block = (pem: string, label: string): string =>
  new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----\n`).exec(pem)?.[0] ?? ''

/** SHA-256 of the certificate, hexadecimal. */
export const fingerprint = ({ certificate }: Issued): string =>
  new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase()

/** Stores certificates of a project. @returns their ids, in the same order */
export async function storeCertificates(
  { access }: SpoutBed,
  { token, projectId }: Tenant,
  issued: readonly Issued[],
): Promise<readonly string[]> {
  const { endpoint, admin } = access
  await callApi(endpoint, admin.token, 'PUT', `/projects/${projectId}/quota`, { limits: { certificates: 10_000 } })
  const ids: string[] = []
  for (const [n, { certificate: chain, key }] of issued.entries()) {
    const body = { name: `s${n}`, chain, key }
    ids.push((await callApi<{ id: string }>(endpoint, token, 'POST', '/certificates', body)).id)
  }
  return ids
}

/** A load balancer with an HTTPS listener for each hundred certificates, in front of the fast members. @returns its address */
export async function createHttps(
  { access: { endpoint }, publicPoolId }: SpoutBed,
  { token }: Tenant,
  certificateIds: readonly string[],
): Promise<string> {
  const listeners = chunks(certificateIds).map((ids, at) => ({
    ...{
      name: `secure${at}`,
      protocol: 'https',
      port: HTTPS_PORT + at,
      defaultPool: 'web',
      tls: { certificateIds: ids },
    },
  }))
  const members = [0, 1].map((n) => ({ name: `m${n}`, address: memberAddress(n), port: FAST_PORTS.first }))
  const body = {
    name: 'bench',
    vips: [{ from: 'pool', poolId: publicPoolId }],
    pools: [{ name: 'web', protocol: 'http', members }],
    listeners,
  }
  interface Shown {
    readonly id: string
    readonly vips: readonly { readonly address: string }[]
    readonly status: { readonly provisioning: string; readonly message: string }
  }
  const { id } = await callApi<Shown>(endpoint, token, 'POST', '/load-balancers', body)
  const shown = await waitFor(
    async () => {
      const now = await callApi<Shown>(endpoint, token, 'GET', `/load-balancers/${id}`)
      if (now.status.provisioning === 'error') throw new Error(`load balancer ${id}: ${now.status.message}`)
      return now.status.provisioning === 'active' && now
    },
    { what: `load balancer ${id} to be active`, timeoutMs: 60_000 },
  )
  return shown.vips[0]?.address ?? ''
}

/** Parts of at most one listener's certificates. */
export const chunks = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / CERTIFICATES_OF_LISTENER) }, (_, at) =>
    all.slice(at * CERTIFICATES_OF_LISTENER, (at + 1) * CERTIFICATES_OF_LISTENER),
  )
