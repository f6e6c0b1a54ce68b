import { gatewayApiDefinitions, type KubernetesCluster, must } from '@spout/testkit'
import type { Teller } from '../story/teller.ts'

/** A running installation of Gateway API's kinds, for which the API server needs seconds. */
export interface Installing {
  /** Shows the command, and waits until it is done. */
  readonly tell: (teller: Teller) => Promise<void>
}

/** Begins to install the kinds of Gateway API. */
export async function beginGatewayApi(cluster: KubernetesCluster): Promise<Installing> {
  const args = ['apply', '--server-side', '--filename', await gatewayApiDefinitions()]
  const installing = must([...cluster.kubectl, ...args], { timeoutMs: 120_000 })
  // `tell` awaits it. If it fails before then, this keeps Node.js from ending the process for an unhandled rejection.
  installing.catch(() => {})
  return {
    tell: async (teller) => {
      teller.command(`kubectl ${args.join(' ')}   # Gateway API`)
      await installing
    },
  }
}
