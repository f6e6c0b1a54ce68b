import type { Lab, SystemAccess, Tenant } from '@spout/testkit'
import { compile, LineProgram } from '../bed/native.ts'
import { percentile } from '../percentile.ts'

/** The result of one window. */
export interface Window {
  readonly p99Us: number
  readonly asked: number
  readonly failed: number
}

/** Sends requests to another tenant's listeners. */
export interface Victim extends AsyncDisposable {
  /** Resolves with a window for each kind of request, by its name. */
  measure(seconds: number): Promise<ReadonlyMap<string, Window>>
}

const INTERVAL_US = 2000

/** @param addresses targets of requests on new connections, by name */
export async function trafficVictim(lab: Lab, addresses: Readonly<Record<string, string>>): Promise<Victim> {
  const program = await compile(lab, 'request-latency')
  const probers = Object.entries(addresses).map(
    ([name, address]) => [name, new LineProgram(lab, 'client', [program, address, '80'])] as const,
  )
  return {
    measure: async (seconds) => {
      const count = Math.round((seconds * 1e6) / INTERVAL_US)
      const windows = await Promise.all(
        probers.map(async ([name, prober]) => {
          const [asked = 0, failed = 0, , p99Us = Number.NaN] = (await prober.ask(`${count} ${INTERVAL_US}`))
            .split(' ')
            .map(Number)
          return [name, { asked, failed, p99Us }] as const
        }),
      )
      return new Map(windows)
    },
    [Symbol.asyncDispose]: async () => {
      for (const [, prober] of probers) await prober[Symbol.asyncDispose]()
    },
  }
}

const PAUSE_MS = 2
/** Of each kind in a window. Of a hundred the p99 is the second largest: chance decides it. */
const LEAST_REQUESTS = 300
/** A window is not longer than this many times its length, however few were answered. */
const LONGEST_FACTOR = 3

/**
 * Reads and changes its own load balancer by the native API, one request after the other. A window lasts until it has
 * enough requests, with and without an attack.
 */
export function apiVictim({ endpoint }: SystemAccess, { token }: Tenant, loadBalancerId: string): Victim {
  const url = `${endpoint}/api/v1/load-balancers/${loadBalancerId}`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const ask = async (method: 'GET' | 'PATCH', turn: number): Promise<boolean> => {
    const body = method === 'GET' ? {} : { body: JSON.stringify({ description: `turn ${turn}` }) }
    const response = await fetch(url, { method, headers, ...body }).catch(() => null)
    await response?.arrayBuffer()
    return response?.ok === true
  }
  return {
    measure: async (seconds) => {
      const took = { read: [] as number[], write: [] as number[] }
      const failed = { read: 0, write: 0 }
      const beganMs = performance.now()
      const isOver = (turn: number): boolean => {
        const lengths = (performance.now() - beganMs) / 1000 / seconds
        return lengths >= LONGEST_FACTOR || (lengths >= 1 && turn >= LEAST_REQUESTS)
      }
      for (let turn = 0; !isOver(turn); turn++)
        for (const kind of ['read', 'write'] as const) {
          const started = performance.now()
          if (!(await ask(kind === 'read' ? 'GET' : 'PATCH', turn))) failed[kind]++
          took[kind].push((performance.now() - started) * 1000)
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        }
      return new Map(
        (['read', 'write'] as const).map((kind) => [
          kind,
          { asked: took[kind].length, failed: failed[kind], p99Us: percentile(took[kind], 0.99) },
        ]),
      )
    },
    [Symbol.asyncDispose]: async () => {},
  }
}
