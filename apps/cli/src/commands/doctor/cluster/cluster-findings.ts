import { type Finding, findingsOfAll } from '@spout/runtime/findings'
import { type ClusterChoice, withCluster } from '../../connections/cluster.ts'
import { CLUSTER_CHECKS } from './cluster-checks.ts'
import { openCluster } from './place.ts'

/**
 * Everything that is found in the cluster of a kubeconfig, what is worst first. It changes nothing there.
 * @throws UsageError, ApiProblem, SpoutError as `withCluster`
 */
export const clusterFindings = (choice: ClusterChoice): Promise<readonly Finding[]> =>
  withCluster(choice, 'spout-doctor', async ({ transport }) =>
    findingsOfAll(CLUSTER_CHECKS, await openCluster(transport)),
  )
