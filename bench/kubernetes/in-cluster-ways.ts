import { waitFor } from '@spout/testkit'
import { type InClusterLab, WORKERS } from '../../e2e/kubernetes/in-cluster-lab.ts'
import { type Balanced, type BalancedSpec, balance, balanceUntil, keepPodOf } from './beside-metallb.ts'

/**
 * `here`: the owner has the pod; `elsewhere`: the other node has it. `former`: as `here`, for a Service that had a pod on the
 * other node, so that packets of connections that the owner does not track would go there.
 */
export const WAYS = ['here', 'elsewhere', 'former', 'peer here', 'peer elsewhere', 'peer Cluster here'] as const
export type Way = (typeof WAYS)[number]
const nodeOf = (n: number): string => WORKERS[n % WORKERS.length] ?? WORKERS[0]
const hasPod = ({ owner }: Balanced, { at }: BalancedSpec): boolean => owner === at

/** Creates the Services of all ways, each with the pod of one node. @returns their addresses */
export async function createWays(lab: InClusterLab, ports: readonly number[]): Promise<Readonly<Record<Way, string>>> {
  const local = { ports, isChecked: false, side: 'ours', policy: 'Local' } as const
  const here = await balanceUntil(lab, (n) => ({ ...local, name: `here-${n}`, at: nodeOf(n) }), hasPod)
  const cluster = { ports, isChecked: false, side: 'ours', policy: 'Cluster' } as const
  const notHere = (found: Balanced, spec: BalancedSpec) => !hasPod(found, spec)
  const elsewhere = await balanceUntil(lab, (n) => ({ ...cluster, name: `elsewhere-${n}`, at: nodeOf(n) }), notHere)
  const former = await balanceUntil(
    lab,
    (n) => ({ ...local, name: `former-${n}`, at: null }),
    ({ owner }) => owner === here.owner,
  )
  await keepPodOf(lab, former, here.owner)
  // A new connection to each port is answered by the pod that stays.
  await untilOnePod(lab, former.address)

  const other = WORKERS.find((name) => name !== elsewhere.owner) ?? ''
  const peer = { ports, side: 'peer' } as const
  const peerHere = await balance(lab, { ...peer, policy: 'Local', name: 'peer-here', at: here.owner })
  if (peerHere.owner !== here.owner) throw new Error(`MetalLB announces peer-here from ${peerHere.owner}`)
  const peerElsewhere = await balanceUntil(
    lab,
    (n) => ({ ...peer, policy: 'Cluster', name: `peer-elsewhere-${n}`, at: other }),
    ({ owner }) => owner === elsewhere.owner,
  )
  const peerCluster = await balanceUntil(
    lab,
    (n) => ({ ...peer, policy: 'Cluster', name: `peer-cluster-${n}`, at: here.owner }),
    ({ owner }) => owner === here.owner,
  )
  return {
    here: here.address,
    elsewhere: elsewhere.address,
    former: former.address,
    'peer here': peerHere.address,
    'peer elsewhere': peerElsewhere.address,
    'peer Cluster here': peerCluster.address,
  }
}

const IN_A_ROW = 40

async function untilOnePod(lab: InClusterLab, address: string): Promise<void> {
  await waitFor(
    async () => {
      const seen = new Set<string>()
      for (let n = 0; n < IN_A_ROW; n++) seen.add((await lab.ask(address))?.pod ?? '')
      return seen.size === 1 && !seen.has('')
    },
    { what: `one pod alone to answer at ${address}` },
  )
}
