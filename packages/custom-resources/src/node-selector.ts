import type { CelRules } from '@spout/kube'
import { z } from 'zod'
import { matchLabels } from './words.ts'

/** The label of a Kubernetes node that names its group. It counts before every selector. */
export const GROUP_LABEL = 'spout.dev/node-group'

const MOST_PARTS = 16
const MOST_VALUES = 64

const requirement = z.strictObject({
  key: z.string().min(1).max(317),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
  values: z.array(z.string().max(63)).max(MOST_VALUES).optional(),
})

/** A meta/v1 LabelSelector with at least one part: an empty one would take the nodes of all other groups. */
export const nodeSelector = z
  .strictObject({
    matchLabels: matchLabels.meta({ maxProperties: MOST_PARTS }).optional(),
    matchExpressions: z.array(requirement).max(MOST_PARTS).optional(),
  })
  .describe(
    `Labels of the Kubernetes nodes that belong to the group; all parts must match. A node is drained before it moves. Left out: the group gets nodes by their label ${GROUP_LABEL}, or by hand.`,
  )

export const nodeSelectorRules: CelRules = {
  'spec.nodeSelector': [
    {
      rule: '(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)',
      message: 'must have matchLabels or matchExpressions',
    },
  ],
  'spec.nodeSelector.matchExpressions[]': [
    {
      rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
      message: 'operators In and NotIn need values, Exists and DoesNotExist take none',
      fieldPath: '.values',
    },
  ],
}
