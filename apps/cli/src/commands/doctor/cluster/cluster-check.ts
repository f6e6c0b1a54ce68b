import { KubeError } from '@spout/kube'
import { type Catalogue, type Check, type CheckParts, checkOf } from '@spout/runtime/findings'
import type { ClusterPlace } from './place.ts'

/** A check of a cluster. What the reader's account may not see is said, and what would let it. */
export const clusterCheckOf = <Reading, C extends Catalogue>(
  parts: Omit<CheckParts<ClusterPlace, Reading, C>, 'whenUnreadable'>,
): Check<ClusterPlace> => checkOf({ ...parts, whenUnreadable: fixOf })

const fixOf = (error: unknown): string =>
  error instanceof KubeError && error.status === 403
    ? 'look with the account of a cluster administrator'
    : 'kubectl get --raw /readyz?verbose'
