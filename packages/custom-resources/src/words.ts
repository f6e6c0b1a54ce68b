import type { CelRule, PrinterColumn } from '@spout/kube'
import { z } from 'zod'

export const GROUP = 'spout.dev'
export const VERSION = 'v1alpha1'

/** Of the cluster-wide object that keeps what was made from it. */
export const FINALIZER = 'spout.dev/configuration'

/** Longest text of an IPv6 prefix; the server works out from it what a rule may cost. */
export const addressText = z.string().min(2).max(43)
/** The name of an object of the native API, which may be no name of Kubernetes. */
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

/** The id that the native API knows the object by, once there is one. */
export const idOfApi = z.string().max(64).optional().describe('The id of the object in the native API.')

/** A rule about a field that may be left out. */
export const whenSet = (field: string, rule: string, message: string): CelRule => ({
  rule: `!has(self.${field}) || ${rule}`,
  message,
  fieldPath: `.${field}`,
})
