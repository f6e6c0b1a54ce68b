import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { connect } from 'node:tls'
import type { ControlPlanePlace } from '../place.ts'
import { readReadiness } from './readiness.ts'

export interface CertificatesReading {
  readonly now: Date
  /** Of several control planes, one that follows does not serve the agent link. */
  readonly ports: readonly {
    /** `api`, `agentLink`. */
    readonly what: string
    readonly address: string
    /** When the certificate that it shows ends; null if nobody answers. */
    readonly ends: Date | null
    readonly error: string | null
  }[]
  /** When the authority of the agent link ends; null before the first start. */
  readonly authorityEnds: Date | null
}

const WITHIN_MS = 5_000

/** Asks each port that serves TLS for its certificate, and reads that of the authority. */
export async function readCertificates(place: ControlPlanePlace): Promise<CertificatesReading> {
  const { config, now } = place
  const { api, agentLink, stateDirectory } = config
  const servesLink = !(await readReadiness(place)).text.startsWith('ok: follows ')
  const asked = [
    ...(servesLink ? [{ what: 'agentLink', ...agentLink }] : []),
    ...(api.tls ? [{ what: 'api', ...api }] : []),
  ]
  const ports = asked.map(async ({ what, host, port }) => {
    const address = `${reachable(host)}:${port}`
    try {
      return { what, address, ends: await endOf(reachable(host), port), error: null }
    } catch (error) {
      return { what, address, ends: null, error: (error as Error).message }
    }
  })
  const authority = await readFile(path.join(stateDirectory, 'agent-link', 'ca.crt'), 'utf8').catch(() => null)
  return {
    now: now(),
    ports: await Promise.all(ports),
    authorityEnds: authority === null ? null : new Date(new X509Certificate(authority).validTo),
  }
}

/** An address that stands for all of them is reached on loopback. */
const reachable = (host: string): string => ({ '0.0.0.0': '127.0.0.1', '::': '::1' })[host] ?? host

/** Whoever issued it is not judged here: clients do. */
const endOf = (host: string, port: number): Promise<Date> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: WITHIN_MS })
    socket.once('error', reject)
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${WITHIN_MS / 1000} s`)))
    socket.once('secureConnect', () => {
      const { valid_to: ends } = socket.getPeerCertificate()
      socket.destroy()
      resolve(new Date(ends))
    })
  })
