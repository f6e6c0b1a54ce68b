import { z } from 'zod'
import { uuid } from '../scalars/scalars.ts'

/** Something that an operator should look at. `error`: traffic is lost, or the next failure loses it. */
export const operatorProblem = z.strictObject({
  level: z.enum(['error', 'warning']),
  /** Stable, as in the runbook's table of symptoms. */
  code: z.string(),
  object: z.strictObject({
    kind: z.enum(['node', 'nodeGroup', 'loadBalancer', 'addressPool']),
    id: uuid,
    name: z.string(),
  }),
  /** A full sentence. */
  message: z.string(),
  /** The anchor of its section in docs/runbook.md; null where there is none. */
  runbook: z.string().nullable(),
})
export type OperatorProblem = z.infer<typeof operatorProblem>
