import type { Check } from '@spout/runtime/findings'
import { apiServer } from './checks/api-server.ts'
import { configuration } from './checks/configuration.ts'
import { foundations } from './checks/foundations.ts'
import { kinds } from './checks/kinds.ts'
import { kubeProxy } from './checks/kube-proxy.ts'
import { nodes } from './checks/nodes.ts'
import { otherBalancers } from './checks/other-balancers.ts'
import { programs } from './checks/programs.ts'
import { returnPath } from './checks/return-path.ts'
import { rights } from './checks/rights.ts'
import { services } from './checks/services.ts'
import type { ClusterPlace } from './place.ts'

/** Every check of a Kubernetes cluster, from what it stands on to what tenants see. */
export const CLUSTER_CHECKS: readonly Check<ClusterPlace>[] = [
  ...[apiServer, kinds, programs, foundations, rights, nodes],
  ...[kubeProxy, returnPath, otherBalancers, configuration, services],
]
