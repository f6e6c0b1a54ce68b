import { gatewayApiDefinitions, type KubernetesCluster, must } from '@spout/testkit'
import type { Teller } from '../story/teller.ts'

/** The kinds of Gateway API on their way into a cluster, whose API server needs seconds for them. */
export interface Installing {
  /** Shows the command, and waits until it is done. */
  readonly tell: (teller: Teller) => Promise<void>
}

/** Begins to install the kinds of Gateway API. */
export async function beginGatewayApi(cluster: KubernetesCluster): Promise<Installing> {
  const args = ['apply', '--server-side', '--filename', await gatewayApiDefinitions()]
  const installing = must([...cluster.kubectl, ...args], { timeoutMs: 120_000 })
  // Awaited by `tell`; until then another failure comes first.
  installing.catch(() => {})
  return {
    tell: async (teller) => {
      teller.command(`kubectl ${args.join(' ')}   # Gateway API`)
      await installing
    },
  }
}
