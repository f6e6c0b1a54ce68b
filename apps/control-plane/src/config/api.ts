import { parseCidr } from '@spout/net'
import { isLoopback } from '@spout/runtime/loopback'
import { z } from 'zod'
import { section, tcpPort } from './section.ts'

const prefix = z.string().refine(isCidr, 'is not a prefix like 192.0.2.0/24')

function isCidr(text: string): boolean {
  try {
    parseCidr(text)
    return true
  } catch {
    return false
  }
}

/** The surfaces for tenants and administrators. */
export const apiSection = section({
  host: z.string().default('127.0.0.1'),
  port: tcpPort.default(9130),
  /** The URL that clients see in catalogs and links; empty: made from host and port. */
  publicUrl: z.string().default(''),
  /** How long an answer of the Octavia API waits for the nodes, so that clients find their object ACTIVE at once. */
  settleMs: z.number().int().min(0).max(10_000).default(400),
  /**
   * Serves HTTPS with the certificate of `certificateFile`, else with one of the agent link's authority for
   * `agentLink.names`.
   */
  tls: z.boolean().default(false),
  /** PEM: the server's certificate, then its chain. It is read again every few seconds. */
  certificateFile: z.string().default(''),
  /** PEM: the certificate's key. */
  keyFile: z.string().default(''),
  /** Allows HTTP beyond loopback, for a proxy on another machine that does TLS over a network of its own. */
  plainBeyondLoopback: z.boolean().default(false),
  /** Prefixes of the proxies in front of the API, which are trusted to name the client's address. */
  trustedProxies: z.array(prefix).max(64).default([]),
  /** How they name it. Only one way is read, because a client itself may send what its proxy does not set. */
  clientAddressFrom: z.enum(['x-forwarded-for', 'forwarded', 'proxy-protocol']).default('x-forwarded-for'),
})
  .refine(({ host, tls, plainBeyondLoopback }) => isLoopback(host) || tls || plainBeyondLoopback, {
    path: ['tls'],
    error:
      'is false, and api.host is beyond loopback: passwords and tokens would be readable on the way; set api.tls, or api.plainBeyondLoopback where a proxy on another machine does TLS',
  })
  .refine(({ certificateFile, keyFile }) => (certificateFile === '') === (keyFile === ''), {
    path: ['keyFile'],
    error: 'and api.certificateFile belong together: set both or none',
  })
  .refine(({ certificateFile, tls }) => certificateFile === '' || tls, {
    path: ['tls'],
    error: 'is false, and api.certificateFile is set: nobody would see the certificate',
  })
  .prefault({})

/**
 * Limits of the API for one project, for one address, and for all together. Requests beyond them get 429 with
 * Retry-After.
 */
export const limitsSection = section({
  /** Requests of a project, over all surfaces. Every 16 KiB sent or received count as one more. */
  requestsPerSecond: z.number().int().min(10).max(1_000_000).default(1000),
  /** How many requests a project that was idle may send at once. */
  requestBurst: z.number().int().min(10).max(10_000_000).default(5000),
  /** Requests without a token, including logins, from one IPv4 address or IPv6 /64. */
  strangerRequestsPerSecond: z.number().int().min(1).max(1_000_000).default(50),
  /** Watches that a project may have open. */
  watches: z.number().int().min(1).max(100_000).default(128),
  /** Connections in total, and from one IPv4 address or IPv6 /64. */
  connections: z.number().int().min(16).max(1_000_000).default(8192),
  connectionsOfAddress: z.number().int().min(4).max(1_000_000).default(4096),
}).prefault({})

/** The operator's endpoints, apart from the API that tenants reach. */
export const statusSection = section({
  host: z.string().default('127.0.0.1'),
  /** `/healthz`, `/readyz` and `/metrics`. */
  port: tcpPort.default(9134),
  /** File with the token that protects `/metrics` and the reasons of `/readyz`; empty asks for none. */
  tokenFile: z.string().default(''),
})
  .refine(({ host, tokenFile }) => isLoopback(host) || tokenFile !== '', {
    path: ['tokenFile'],
    error: 'is not set, and status.host is beyond loopback: metrics would be readable by everybody who reaches it',
  })
  .prefault({})
