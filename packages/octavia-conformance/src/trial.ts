import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Attributes, OctaviaClient } from '@spout/octavia-client'
import { CheckFailed, CheckSkipped, type Result } from './result.ts'

export interface TrialOptions {
  readonly client: Pick<OctaviaClient, 'ask' | 'list'>
  /** The client of another project of the same cloud; null: none is known. */
  readonly stranger: Pick<OctaviaClient, 'ask'> | null
  /** The names of this run's load balancers begin with it. */
  readonly prefix: string
  /** Where VIPs come from: `vip_subnet_id` or `vip_network_id`. */
  readonly vip: Attributes
  /** Addresses of members, by a number from 1 on. */
  readonly memberAddress: (number: number) => string
  /** How long an object may be PENDING. */
  readonly settleMs: number
  readonly random: () => number
  readonly signal: AbortSignal
  readonly onResult: (result: Result) => void
}

/** The status for an option that the provider does not have (RFC 9110 section 15.6.2, as Octavia uses it). */
const NOT_OFFERED = 501

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2000

/** One run of the checks. It makes their requests and collects their results. */
export class Trial {
  readonly options: TrialOptions
  readonly results: Result[] = []
  #group = ''

  constructor(options: TrialOptions) {
    this.options = options
  }

  /** Names the group of the checks that follow. */
  group(name: string): void {
    this.#group = name
  }

  /**
   * Makes a check.
   * @returns what the check found; null when it failed or was skipped
   */
  async check<T>(name: string, check: () => Promise<T>): Promise<T | null> {
    this.options.signal.throwIfAborted()
    try {
      const found = await check()
      this.#note(name, 'passed', null)
      return found
    } catch (error) {
      if (error instanceof CheckFailed) this.#note(name, 'failed', error.message)
      else if (error instanceof CheckSkipped) this.#note(name, 'skipped', error.message)
      else throw error
      return null
    }
  }

  /** Records checks as skipped, because another one had to pass before. */
  skip(name: string, reason: string): void {
    this.#note(name, 'skipped', reason)
  }

  #note(name: string, outcome: Result['outcome'], reason: string | null): void {
    const result = { group: this.#group, name, outcome, reason }
    this.results.push(result)
    this.options.onResult(result)
  }

  /** Makes a request. @throws CheckFailed when the status is another one; CheckSkipped when the provider answers 501 */
  async expect(status: number | readonly number[], method: string, path: string, body?: object): Promise<Attributes> {
    const answer = await this.options.client.ask(method, path, body)
    const wanted = [status].flat()
    if (wanted.includes(answer.status)) return answer.body
    if (answer.status === NOT_OFFERED) throw new CheckSkipped(`not offered: ${faultOf(answer)}`)
    throw new CheckFailed(`${method} ${path} was answered ${answer.status}, not ${wanted.join(' or ')}${said(answer)}`)
  }

  /** Creates an object. @returns it as the answer shows it @throws CheckFailed */
  async make(path: string, root: string, fields: object): Promise<Attributes & { readonly id: string }> {
    const { [root]: made } = await this.expect(201, 'POST', path, { [root]: fields })
    const object = made as Attributes | undefined
    if (typeof object?.['id'] !== 'string')
      throw new CheckFailed(`POST ${path} was answered without a ${root} with an id`)
    return object as Attributes & { readonly id: string }
  }

  /** Creates an object, waits until it is ACTIVE, and compares what is shown with what was asked for. */
  async makeAndShow(
    lb: string,
    path: string,
    root: string,
    fields: Attributes,
  ): Promise<Attributes & { readonly id: string }> {
    const made = await this.make(path, root, fields)
    await this.settled(lb)
    const shown = await this.show(`${path}/${made.id}`, root)
    mustShow(shown, fields)
    if (shown['provisioning_status'] !== 'ACTIVE')
      throw new CheckFailed(
        `provisioning_status is ${String(shown['provisioning_status'])}, its load balancer is ACTIVE`,
      )
    return made
  }

  async show(path: string, root: string): Promise<Attributes> {
    const { [root]: shown } = await this.expect(200, 'GET', path)
    if (typeof shown !== 'object' || shown === null) throw new CheckFailed(`GET ${path} was answered without a ${root}`)
    return shown as Attributes
  }

  /** Changes an object, waits until it is ACTIVE, and checks that it shows the change. */
  async change(lb: string, path: string, root: string, fields: Attributes): Promise<void> {
    await this.expect(200, 'PUT', path, { [root]: fields })
    await this.settled(lb)
    mustShow(await this.show(path, root), fields)
  }

  async remove(lb: string, path: string): Promise<void> {
    await this.expect(204, 'DELETE', path)
    await this.settled(lb)
    await this.gone(path)
  }

  /** Waits until the load balancer is ACTIVE. @throws CheckFailed when it is not in time, or in ERROR */
  async settled(lb: string): Promise<void> {
    await this.until(`load balancer ${lb} to be ACTIVE`, async () => {
      const { provisioning_status: status } = await this.show(`/loadbalancers/${lb}`, 'loadbalancer')
      if (status === 'ERROR') throw new CheckFailed(`load balancer ${lb} is in ERROR`)
      return status === 'ACTIVE' ? null : String(status)
    })
  }

  /** Waits until an object is not found. */
  async gone(path: string): Promise<void> {
    await this.until(`${path} to be gone`, async () => {
      const { status } = await this.options.client.ask('GET', path)
      return status === 404 ? null : `its GET is answered ${status}`
    })
  }

  /**
   * Waits for something. @param look why it is not yet so; null when it is @throws CheckFailed when it is not in time
   */
  async until(what: string, look: () => Promise<string | null>): Promise<void> {
    const { settleMs, signal } = this.options
    const deadline = performance.now() + settleMs
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const why = await look()
      if (why === null) return
      if (performance.now() > deadline) throw new CheckFailed(`waited ${settleMs / 1000} s in vain for ${what}: ${why}`)
      await sleep(pauseMs, undefined, { signal })
    }
  }
}

/** @throws CheckFailed unless it shows these fields with these values */
export function mustShow(shown: Attributes, fields: Attributes): void {
  for (const [name, wanted] of Object.entries(fields)) {
    if (!(name in shown)) {
      if (WRITE_ONLY.has(name)) continue
      throw new CheckFailed(`${name} is not shown`)
    }
    if (!same(shown[name], wanted))
      throw new CheckFailed(
        `${name} is shown as ${JSON.stringify(shown[name])}, but was written as ${JSON.stringify(wanted)}`,
      )
  }
}

/** Fields that name a parent when an object is created; the object shows its parents as lists instead. */
const WRITE_ONLY: ReadonlySet<string> = new Set(['loadbalancer_id', 'listener_id', 'pool_id'])

/** Whether the shown value is the wanted one. Lists may be in any order; an object may have more fields than wanted. */
function same(shown: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(shown) &&
      shown.length === wanted.length &&
      wanted.every((one) => shown.some((other) => same(other, one)))
    )
  if (typeof wanted === 'object' && wanted !== null)
    return (
      typeof shown === 'object' &&
      shown !== null &&
      Object.entries(wanted).every(([name, value]) => same((shown as Attributes)[name], value))
    )
  return shown === wanted
}

const faultOf = ({ body }: Answer): string => String(body['faultstring'] ?? 'no reason is given')
const said = (answer: Answer): string => ('faultstring' in answer.body ? `: ${faultOf(answer)}` : '')
