import { z } from 'zod'

/**
 * The kind of keepalived-operator (redhatcop.redhat.io/v1alpha1) with the fields that we know, and OpenShift's own
 * settings for external addresses (config.openshift.io/v1, Network `cluster`). Unknown fields become notes.
 */

const texts = z.record(z.string(), z.string()).nullish()

export const keepalivedGroupSpec = z.looseObject({
  interface: z.string().nullish(),
  interfaceFromIP: z.string().nullish(),
  nodeSelector: texts,
  verbatimConfig: texts,
  blacklistRouterIDs: z.array(z.int().min(1).max(255)).nullish(),
  unicastEnabled: z.boolean().nullish(),
})

/** VRIDs by Service, which the operator gave out. */
export const keepalivedGroupStatus = z.looseObject({
  routerIDs: z.record(z.string(), z.int().min(0).max(255)).nullish(),
})

export const networkSpec = z.looseObject({
  externalIP: z
    .looseObject({
      policy: z
        .looseObject({
          allowedCIDRs: z.array(z.string()).nullish(),
          rejectedCIDRs: z.array(z.string()).nullish(),
        })
        .nullish(),
      autoAssignCIDRs: z.array(z.string()).nullish(),
    })
    .nullish(),
})

/** A Service, as far as it says something to the operator. */
export const serviceSpec = z.looseObject({ externalIPs: z.array(z.string()).nullish() })

export const OPERATOR_GROUP = 'redhatcop.redhat.io'
export const OPENSHIFT_CONFIG = 'config.openshift.io'
const PREFIX = 'keepalived-operator.redhat-cop.io'
export const ANNOTATIONS = {
  group: `${PREFIX}/keepalivedgroup`,
  verbatim: `${PREFIX}/verbatimconfig`,
  spread: `${PREFIX}/spreadvips`,
} as const
