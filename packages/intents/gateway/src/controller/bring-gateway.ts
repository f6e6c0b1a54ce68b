import { Refused } from '@spout/client/native-api'
import {
  type AddressFields,
  type BringContext,
  bringContent,
  bringFamilies,
  keptLoadBalancer,
  type ListenerContent,
  PoolAwaited,
  type PoolContent,
  type Progress,
  type Refusal,
  reasonOf,
  type ShownLoadBalancer,
  Unsatisfiable,
  uidOf,
  type WantedLoadBalancer,
  withoutNewRoutes,
} from '@spout/connector'
import type { Gateway } from '../objects/gateway.ts'
import type { CompiledGateway } from '../to-model/gateways/compile-gateway.ts'

const FIELDS: AddressFields = {
  addresses: 'spec.addresses',
  pools: 'spec.addresses',
  families: 'spec.addresses',
  loadBalancerClass: 'spec.gatewayClassName',
}

/** The outcome of reconciling the load balancer of a Gateway. */
export interface BroughtGateway {
  /** Null when it does not exist. */
  readonly shown: ShownLoadBalancer | null
  /** Why it is not as wanted; null when it is. */
  readonly notMade: Progress | null
  /** Absent: all routes are served. */
  readonly tooMuch?: TooMuch
}

/** The routes that are not served because the project's quota has no room for them. */
export interface TooMuch {
  readonly uids: ReadonlySet<string>
  readonly message: string
}

/**
 * Reconciles the load balancer of a Gateway. If the Gateway is no longer valid, its load balancer keeps the address but
 * has no listeners. If an earlier control plane does not know a field, the content is written without it.
 */
export async function bringGateway(
  context: BringContext,
  gateway: Gateway,
  compiled: CompiledGateway,
): Promise<BroughtGateway> {
  let content = compiled
  for (const left = new Set(Object.keys(WITHOUT)); ; ) {
    try {
      return await bring(context, gateway, content)
    } catch (error) {
      const field = unknownThere(error)
      if (field === null || content.wanted === null || !left.delete(field)) throw error
      content = { ...content, wanted: { ...content.wanted, content: WITHOUT[field](content.wanted.content) } }
    }
  }
}

type Content = NonNullable<CompiledGateway['wanted']>['content']

/**
 * Fields that an earlier control plane does not know, with a function that removes each from the content. They are
 * removed one by one, so that fields which it knows are kept.
 */
const WITHOUT = {
  separateHosts: (content: Content): Content => ({
    ...content,
    listeners: content.listeners.map((listener): ListenerContent => {
      if (listener.tls === undefined) return listener
      const { separateHosts: _, ...tls } = listener.tls
      return { ...listener, tls }
    }),
  }),
  refusedPercent: (content: Content): Content => ({
    ...content,
    pools: content.pools.map(({ refusedPercent: _, ...pool }): PoolContent => pool),
  }),
} as const

/** The field of `WITHOUT` that the control plane refused as unknown; null for any other error. */
function unknownThere(error: unknown): keyof typeof WITHOUT | null {
  if (!(error instanceof Refused) || error.code !== 'UnknownField') return null
  const fields = Object.keys(WITHOUT) as (keyof typeof WITHOUT)[]
  return fields.find((field) => error.field?.endsWith(`.${field}`)) ?? null
}

async function bring(
  context: BringContext,
  gateway: Gateway,
  { wanted, refused }: CompiledGateway,
): Promise<BroughtGateway> {
  const [held] = context.known.ofUid(uidOf(gateway))
  if (wanted === null && held === undefined) {
    const message = refused?.message ?? 'None of its listeners is valid.'
    return { shown: null, notMade: { type: 'pending', reason: 'Invalid', message } }
  }
  const request: WantedLoadBalancer = {
    heldBy: held?.document.id ?? null,
    request: wanted?.request ?? { families: [], pools: null },
    content: wanted?.content ?? emptied(held!),
    founder: uidOf(gateway),
    shownAddresses: (gateway.status?.addresses ?? []).flatMap(({ value }) => value ?? []),
    fields: FIELDS,
    inOwnWords,
  }
  let shown = held ?? null
  try {
    shown = await keptLoadBalancer(context, request)
    shown = await bringContent(context, request, shown)
    if (wanted === null) return { shown, notMade: { type: 'pending', reason: 'Invalid', message: 'It is not valid.' } }
    const { shown: now, refusal } = await bringFamilies(context, request, shown, [])
    return { shown: now, notMade: refusal === null ? null : { type: 'refused', refusal } }
  } catch (error) {
    if (error instanceof PoolAwaited) return { shown, notMade: { type: 'pending', ...error.refusal } }
    if (error instanceof Unsatisfiable) return { shown, notMade: { type: 'refused', refusal: error.refusal } }
    if (!(error instanceof Refused) || unknownThere(error) !== null) throw error
    const refused = { type: 'refused', refusal: inOwnWords(error) } as const
    if (error.code !== 'OverQuota' || shown === null) return { shown, notMade: refused }
    const { content, owners: uids } = withoutNewRoutes(request.content, shown.document)
    const { message } = refused.refusal
    return {
      shown: await unlessRefused(context, { ...request, content }, shown),
      notMade: refused,
      ...(uids.size > 0 && { tooMuch: { uids, message } }),
    }
  }
}

/**
 * Writes the content without new routes, after all routes together exceeded a quota. If this is refused as well, the
 * load balancer stays as it is.
 */
async function unlessRefused(
  context: BringContext,
  wanted: WantedLoadBalancer,
  shown: ShownLoadBalancer,
): Promise<ShownLoadBalancer> {
  try {
    return await bringContent(context, wanted, shown)
  } catch (error) {
    if (error instanceof Refused) return shown
    throw error
  }
}

const emptied = ({ document: { name, annotations, tags } }: ShownLoadBalancer): WantedLoadBalancer['content'] => ({
  name,
  tags,
  annotations,
  pools: [],
  listeners: [],
})

const inOwnWords = ({ code, message, field }: Refused): Refusal => ({
  reason: code,
  field: field?.startsWith('vips') ? 'spec.addresses' : 'spec',
  message: reasonOf(message),
})
