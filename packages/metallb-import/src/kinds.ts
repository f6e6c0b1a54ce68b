import { z } from 'zod'

/**
 * MetalLB's kinds (metallb.io, v1beta1 and v1beta2 of 0.13 to 0.15) with the fields that we know. Objects are open: an
 * unknown field of a newer version becomes a note, not an error.
 */

const names = z.array(z.string()).nullish()
const labelSelector = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).nullish(),
  matchExpressions: z
    .array(
      z.looseObject({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: names,
      }),
    )
    .nullish(),
})
export type LabelSelector = z.infer<typeof labelSelector>
const selectors = z.array(labelSelector).nullish()
const asn = z.int().min(0).max(4_294_967_295)

/** A Go duration in seconds, such as `1m30s`. */
const duration = z
  .string()
  .regex(/^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$/, 'is no duration like 90s')
  .transform((text) =>
    [...text.matchAll(/([0-9.]+)(ns|us|µs|ms|s|m|h)/g)].reduce(
      (sum, [, amount, unit]) => sum + Number(amount) * (SECONDS[unit as keyof typeof SECONDS] ?? 0),
      0,
    ),
  )
const SECONDS = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 } as const

export const SPECS = {
  IPAddressPool: z.looseObject({
    addresses: z.array(z.string()).min(1),
    autoAssign: z.boolean().nullish(),
    avoidBuggyIPs: z.boolean().nullish(),
    serviceAllocation: z.looseObject({}).nullish(),
  }),
  L2Advertisement: z.looseObject({
    ipAddressPools: names,
    ipAddressPoolSelectors: selectors,
    nodeSelectors: selectors,
    interfaces: names,
    serviceSelectors: selectors,
    preferredNodeSelectors: z.array(z.looseObject({})).nullish(),
  }),
  BGPPeer: z.looseObject({
    myASN: asn.min(1),
    peerASN: asn.nullish(),
    dynamicASN: z.enum(['internal', 'external']).nullish(),
    peerAddress: z.string().nullish(),
    interface: z.string().nullish(),
    peerPort: z.int().min(0).max(65_535).nullish(),
    holdTime: duration.nullish(),
    keepaliveTime: duration.nullish(),
    connectTime: duration.nullish(),
    nodeSelectors: selectors,
    bfdProfile: z.string().nullish(),
    enableGracefulRestart: z.boolean().nullish(),
    ebgpMultiHop: z.boolean().nullish(),
    dualStackAddressFamily: z.boolean().nullish(),
  }),
  BGPAdvertisement: z.looseObject({
    aggregationLength: z.int().min(1).max(32).nullish(),
    aggregationLengthV6: z.int().min(1).max(128).nullish(),
    localPref: z.int().min(0).max(4_294_967_295).nullish(),
    communities: names,
    ipAddressPools: names,
    ipAddressPoolSelectors: selectors,
    nodeSelectors: selectors,
    peers: names,
    serviceSelectors: selectors,
  }),
  Community: z.looseObject({ communities: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish() }),
  BFDProfile: z.looseObject({
    receiveInterval: z.int().min(10).max(60_000).nullish(),
    transmitInterval: z.int().min(10).max(60_000).nullish(),
    detectMultiplier: z.int().min(2).max(255).nullish(),
  }),
} as const
export type MetalLbKind = keyof typeof SPECS
export const METALLB_KINDS = Object.keys(SPECS) as readonly MetalLbKind[]
export const METALLB_GROUP = 'metallb.io'
export type SpecOf<K extends MetalLbKind> = z.output<(typeof SPECS)[K]>

/** Whether labels match. All parts must match; a selector without parts matches everything. */
export const selects = ({ matchLabels, matchExpressions }: LabelSelector, labels: Readonly<Record<string, string>>) =>
  Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
  (matchExpressions ?? []).every(({ key, operator, values }) => {
    const label = labels[key]
    if (operator === 'Exists') return label !== undefined
    if (operator === 'DoesNotExist') return label === undefined
    const isIn = label !== undefined && (values ?? []).includes(label)
    return operator === 'In' ? isIn : !isIn
  })
