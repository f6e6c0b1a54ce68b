import { must, run } from '../../lab/run.ts'
import { ipLines } from '../network.ts'

/** Host numbers in a node's pod ranges; the first is the node's own end of every pod's cable. */
const GATEWAY_HOST = 1
const LAST_HOST = 250

/** A pod's addresses, and the node's end of its cable. */
export interface PodAddresses {
  readonly host: number
  /** IPv4 first. */
  readonly ips: readonly [string, string]
  readonly gateways: readonly [string, string]
}

/** Assigns addresses of a node's pod ranges: always the next free one, so that a released address rests. */
export class PodAddressPool {
  readonly #cidrs: readonly [string, string]
  readonly #taken = new Set<number>()
  #last = GATEWAY_HOST

  constructor(cidrs: readonly [string, string]) {
    this.#cidrs = cidrs
  }

  /** @throws Error when none is free */
  take(): PodAddresses {
    for (let tried = 0; tried < LAST_HOST - GATEWAY_HOST; tried++) {
      this.#last = this.#last >= LAST_HOST ? GATEWAY_HOST + 1 : this.#last + 1
      if (!this.#taken.has(this.#last)) return this.keep(this.#last)
    }
    throw new Error(`all pod addresses of ${this.#cidrs[0]} are taken`)
  }

  /** Reserves the host number of a pod that an earlier kubelet made. */
  keep(host: number): PodAddresses {
    this.#taken.add(host)
    return { host, ips: this.#at(host), gateways: this.#at(GATEWAY_HOST) }
  }

  release(host: number): void {
    this.#taken.delete(host)
  }

  #at(host: number): [string, string] {
    const [cidr, cidr6] = this.#cidrs
    return [cidr.replace(/0\/24$/, String(host)), cidr6.replace(/\/64$/, host.toString(16))]
  }
}

/**
 * Creates a pod's namespace and its cable: a /32 and a /128 at each end and a host route on the node, as CNI's `ptp`
 * plugin does. Runs in the node's namespace.
 */
export async function addPodNetwork(namespace: string, link: string, { ips, gateways }: PodAddresses): Promise<void> {
  await must(['ip', 'netns', 'add', namespace])
  await ipLines(null, [
    `link add name ${link} type veth peer name eth0 netns ${namespace}`,
    `addr add ${gateways[0]}/32 dev ${link}`,
    `addr add ${gateways[1]}/128 dev ${link} nodad`,
    `link set dev ${link} up`,
    ...ips.map((ip) => `route add ${ip} dev ${link}`),
  ])
  await ipLines(namespace, [
    'link set dev lo up',
    'link set dev eth0 up',
    `addr add ${ips[0]}/32 dev eth0`,
    `addr add ${ips[1]}/128 dev eth0 nodad`,
    ...gateways.flatMap((gateway) => [`route add ${gateway} dev eth0`, `route add default via ${gateway} dev eth0`]),
  ])
}

/** Removes it: the cable first, so that its routes are gone when this returns. */
export async function removePodNetwork(namespace: string, link: string): Promise<void> {
  await run(['ip', 'link', 'delete', 'dev', link])
  await run(['ip', 'netns', 'delete', namespace])
}
