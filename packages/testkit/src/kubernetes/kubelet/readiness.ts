import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import type { Container, Probe } from '../objects.ts'
import { sleep } from './pause.ts'

/** Counts outcomes of a readiness probe until they make the container ready or not. */
export class Readiness {
  readonly #probe: Probe
  #ready = false
  #streak = 0
  #last: boolean | null = null

  constructor(probe: Probe) {
    this.#probe = probe
  }

  get ready(): boolean {
    return this.#ready
  }

  note(success: boolean): void {
    this.#streak = success === this.#last ? this.#streak + 1 : 1
    this.#last = success
    const threshold = success ? (this.#probe.successThreshold ?? 1) : (this.#probe.failureThreshold ?? 3)
    if (this.#streak >= threshold) this.#ready = success
  }

  /** A restarted container must become ready again. */
  reset(): void {
    this.#ready = false
    this.#last = null
  }
}

/** What is probed, and where errors go. */
export interface Asking {
  readonly container: Container
  /** Its address; null while it does not run. */
  readonly ip: () => string | null
  readonly changed: () => void
  /** Called with the reason when it cannot be probed. */
  readonly problem: (text: string) => void
  readonly ended: AbortSignal
}

const ASK_UNREADY_EVERY_MS = 100
const DEFAULT_PERIOD_S = 10

/** Probes a container until `ended`; more often than configured while it is not ready, to be quick. */
export async function keepAsking(readiness: Readiness, asking: Asking): Promise<void> {
  const { container, ended } = asking
  const probe = container.readinessProbe ?? {}
  let delayMs = (probe.initialDelaySeconds ?? 0) * 1000
  while (!ended.aborted) {
    const ip = asking.ip()
    if (ip === null) {
      await sleep(ASK_UNREADY_EVERY_MS, ended)
      continue
    }
    await sleep(delayMs, ended)
    delayMs = 0
    const before = readiness.ready
    try {
      readiness.note(await ask(container, ip, probe))
    } catch (error) {
      asking.problem((error as Error).message)
    }
    if (readiness.ready !== before) asking.changed()
    await sleep(readiness.ready ? (probe.periodSeconds ?? DEFAULT_PERIOD_S) * 1000 : ASK_UNREADY_EVERY_MS, ended)
  }
}

/** Probes a container once. @throws Error for a kind of probe that the test bed does not support */
export function ask(container: Container, ip: string, probe: Probe): Promise<boolean> {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000
  if (probe.httpGet) {
    const { host = ip, port, path = '/', scheme = 'HTTP' } = probe.httpGet
    return askHttp({ host, port: portOf(container, port), path, scheme, timeoutMs })
  }
  if (probe.tcpSocket) return askTcp(ip, portOf(container, probe.tcpSocket.port), timeoutMs)
  throw new Error(`container ${container.name}: readinessProbe: only httpGet and tcpSocket are known here`)
}

function portOf(container: Container, port: number | string): number {
  if (typeof port === 'number') return port
  const named = container.ports?.find(({ name }) => name === port)
  if (named === undefined) throw new Error(`container ${container.name}: readinessProbe: no port is named ${port}`)
  return named.containerPort
}

interface HttpQuestion {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly scheme: 'HTTP' | 'HTTPS'
  readonly timeoutMs: number
}

/** Like the real kubelet, it does not check certificates. */
const askHttp = ({ scheme, timeoutMs, ...where }: HttpQuestion): Promise<boolean> =>
  new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeoutMs)
    const options = { ...where, agent: false, signal, headers: { 'user-agent': 'kube-probe/1.36' } } as const
    const answered = (response: http.IncomingMessage): void => {
      response.resume()
      const status = response.statusCode ?? 0
      response.on('close', () => resolve(status >= 200 && status < 400))
    }
    const request =
      scheme === 'HTTPS' ? https.get({ ...options, rejectUnauthorized: false }, answered) : http.get(options, answered)
    request.on('error', () => resolve(false))
  })

const askTcp = (host: string, port: number, timeoutMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: timeoutMs })
    const answer = (success: boolean) => {
      socket.destroy()
      resolve(success)
    }
    socket.on('connect', () => answer(true))
    socket.on('error', () => answer(false))
    socket.on('timeout', () => answer(false))
  })
