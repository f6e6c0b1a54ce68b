import type { CelRule, PrinterColumn } from '@spout/kube'
import { z } from 'zod'

export const GROUP = 'spout.dev'
export const VERSION = 'v1alpha1'

/** Finalizer that keeps an object until everything that was created for it is gone. */
export const FINALIZER = 'spout.dev/configuration'

/**
 * An address or prefix. The longest IPv6 prefix has 43 characters; the server estimates the cost of rules from this
 * limit.
 */
export const addressText = z.string().min(2).max(43)
/** The name of an object of the native API, which need not be a valid Kubernetes name. */
export const apiName = z.string().min(1).max(255)

export const ready: PrinterColumn = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
}
export const reason: PrinterColumn = {
  name: 'Reason',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
}

/** `matchLabels` of a meta/v1 LabelSelector. */
export const matchLabels = z.record(z.string().max(317), z.string().max(63))

/** The object's id in the native API, once it exists. */
export const idOfApi = z.string().max(64).optional().describe('The id of the object in the native API.')

/** A rule that applies only when an optional field is set. */
export const whenSet = (field: string, rule: string, message: string): CelRule => ({
  rule: `!has(self.${field}) || ${rule}`,
  message,
  fieldPath: `.${field}`,
})
