import { loadBalancer, uuid } from '@spout/model'
import { z } from 'zod'

export const text = {
  /** Names an existing part. If absent, the part is matched by its unique fields, else it is new. */
  id: uuid.optional(),
  name: z.string().max(255).default(''),
  description: z.string().max(255).default(''),
  tags: loadBalancer.shape.tags.default([]),
}
/** Read-only fields. They are accepted and ignored, so that what was read can be written back. */
export const echoed = { createdAt: z.unknown().optional(), updatedAt: z.unknown().optional() }
