import type { ModelView } from '@spout/admission/contract'
import type { NameServer } from '@spout/dns'
import {
  coversName,
  type DnsNameStatus,
  type DnsReader,
  domainsOf,
  type LoadBalancer,
  type StatusReader,
} from '@spout/model'
import { ReferenceUsers } from '@spout/plan'
import type { Clock, Component, Logger } from '@spout/runtime'
import { type WantedName, ZonePublisher } from './zone-publisher.ts'

/** A zone whose name server accepts dynamic updates. */
export interface DnsZone {
  readonly name: string
  readonly server: Pick<NameServer, 'query' | 'update' | 'transfer'>
  /** The server, for messages. */
  readonly serverText: string
}

export interface DnsPublisherOptions {
  readonly zones: readonly DnsZone[]
  /** The name of this control plane in ownership records. */
  readonly owner: string
  /** The TTL of names whose load balancer sets none. */
  readonly ttlSeconds: number
  readonly sweepMs: number
  readonly view: ModelView
  readonly status: Pick<StatusReader, 'loadBalancer' | 'onChange'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Publishes the DNS names of load balancers with their public addresses. A name is published once an address is
 * announced. It is removed with its load balancer, or when its project loses the domain. If several load balancers have
 * a name, the oldest one gets it.
 */
export class DnsPublisher implements Component, DnsReader {
  readonly name = 'dns'
  readonly #options: DnsPublisherOptions
  readonly #zones: readonly ZonePublisher[]
  readonly #users = new ReferenceUsers()
  /** By load balancer id. */
  readonly #names = new Map<string, readonly string[]>()
  /** By load balancer id: names and records when they were last queued, as a text to compare. */
  readonly #meanings = new Map<string, string>()
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: DnsPublisherOptions) {
    this.#options = options
    this.#zones = options.zones
      .map(
        ({ name: zone, server, serverText }) =>
          new ZonePublisher({
            ...{ zone, server, serverText, owner: options.owner, sweepMs: options.sweepMs },
            wanted: (name) => this.#wanted(name),
            names: () => [...this.#names.values()].flat().filter((name) => this.#zoneOf(name)?.zone === zone),
            ...{ clock: options.clock, log: options.log },
          }),
      )
      // So that the first zone that matches a name is the closest one.
      .toSorted((a, b) => b.zone.length - a.zone.length)
  }

  start(): void {
    const { view, status } = this.#options
    for (const { id } of view.list('loadBalancer')) this.#learn(id)
    this.#unsubscribe = [
      view.onChange((changed) => {
        for (const { kind, id } of changed) {
          if (kind === 'loadBalancer') this.#changed(id)
          if (kind === 'project') this.#domainsChanged(id)
        }
      }),
      status.onChange((kind, id) => {
        if (kind === 'loadBalancer' && this.#names.has(id)) this.#changed(id)
      }),
    ]
    for (const zone of this.#zones) zone.start()
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await Promise.all(this.#zones.map((zone) => zone.stop()))
  }

  names(loadBalancerId: string): readonly DnsNameStatus[] {
    const loadBalancer = this.#options.view.get('loadBalancer', loadBalancerId)?.value
    return (loadBalancer?.dnsNames ?? []).map((name) => {
      if (!this.#isCovered(name, loadBalancer?.projectId)) return LOST(name)
      const zone = this.#zoneOf(name)
      if (zone !== undefined) return zone.status(name) ?? WAITING(name)
      const message = 'The control plane has no zone for it.'
      return { name, state: 'failed', reason: 'NoZone', message, addresses: [] }
    })
  }

  get zones(): readonly Pick<ZonePublisher, 'zone' | 'statuses' | 'sweepFailure'>[] {
    return this.#zones
  }

  #zoneOf(name: string): ZonePublisher | undefined {
    return this.#zones.find(({ zone }) => name.endsWith(`.${zone}`))
  }

  #changed(id: string): void {
    const before = this.#names.get(id) ?? []
    const after = this.#learn(id)
    const meaning = after.length === 0 ? '' : JSON.stringify([after, this.#wantedOf(id)])
    if ((this.#meanings.get(id) ?? '') === meaning) return
    if (meaning === '') this.#meanings.delete(id)
    else this.#meanings.set(id, meaning)
    for (const name of new Set([...before, ...after])) this.#zoneOf(name)?.add(name)
  }

  /** A project loses a domain when it no longer proves it, or when the administrator gives it to another. */
  #domainsChanged(projectId: string): void {
    for (const { id } of this.#options.view.list('loadBalancer', { projectId })) this.#changed(id)
  }

  #isCovered(name: string, projectId: string | undefined): boolean {
    const project = projectId === undefined ? undefined : this.#options.view.get('project', projectId)?.value
    return project !== undefined && domainsOf(project).some((domain) => coversName(domain, name))
  }

  #learn(id: string): readonly string[] {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    const names = (loadBalancer?.dnsNames ?? []).filter((name) => this.#isCovered(name, loadBalancer?.projectId))
    this.#users.replace(id, names)
    if (names.length > 0) this.#names.set(id, names)
    else this.#names.delete(id)
    return names
  }

  #wanted(name: string): WantedName | null {
    const { view, ttlSeconds } = this.#options
    const [oldest] = [...this.#users.of(name)]
      .flatMap((id) => view.get('loadBalancer', id)?.value ?? [])
      .toSorted((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? -1 : 1))
    if (oldest === undefined) return null
    const { id, projectId } = oldest
    const { addresses, announced } = this.#addressesOf(oldest)
    return {
      ...{ loadBalancerId: id, projectId, addresses, announced: new Set(announced) },
      ttlSeconds: oldest.dnsTtlSeconds ?? ttlSeconds,
    }
  }

  #wantedOf(id: string): unknown {
    const loadBalancer = this.#options.view.get('loadBalancer', id)?.value
    return loadBalancer && [this.#addressesOf(loadBalancer), loadBalancer.dnsTtlSeconds]
  }

  #addressesOf({ id, enabled, vips }: LoadBalancer) {
    const addresses = enabled ? vips.filter(({ scope }) => scope === 'fabric').map(({ address }) => address) : []
    const nodes = this.#options.status.loadBalancer(id).nodes
    const announced = addresses.filter((address) => nodes.some((node) => node.announced.includes(address)))
    return { addresses, announced }
  }
}

const LOST = (name: string): DnsNameStatus => ({
  ...{ name, state: 'failed', reason: 'DomainLost', message: 'No domain of the project covers it any more.' },
  addresses: [],
})

const WAITING = (name: string): DnsNameStatus => ({
  ...{ name, state: 'waiting', reason: 'WaitingForTurn', message: 'It was not looked at yet.', addresses: [] },
})
