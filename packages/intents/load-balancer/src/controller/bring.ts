import { createHash } from 'node:crypto'
import { Refused } from '@spout/client/native-api'
import {
  type AddressContext,
  type AddressFields,
  bringFamilies,
  choicesOf,
  classIdOf,
  type DocumentService,
  firstGranted,
  keptLoadBalancer,
  type LoadBalancerService,
  loadBalancerIds,
  type Refusal,
  reasonOf,
  type ShownLoadBalancer,
  Unsatisfiable,
  uidOf,
  type WantedAddresses,
} from '@spout/connector'
import type { LoadBalancerObject } from '../load-balancer-object.ts'
import type { Compiled } from '../to-model/compile.ts'

const FIELDS: AddressFields = {
  addresses: 'spec.addresses',
  pools: 'spec.addressPools',
  families: 'spec.addresses',
  loadBalancerClass: 'spec.class',
}

export interface BringContext extends AddressContext {
  readonly service: LoadBalancerService
  readonly documents: DocumentService
  /**
   * What was written last, by id of the load balancer, as `markOf` says it. Changes by others are thus found and
   * overwritten.
   */
  readonly written: Map<string, string>
}

export interface Brought {
  readonly shown: ShownLoadBalancer | null
  /** Why the load balancer is not as requested; null when it is. */
  readonly refusal: Refusal | null
}

/** Reconciles the load balancer of one object. A request that is refused leaves the load balancer as it is. */
export async function bring(context: BringContext, object: LoadBalancerObject, compiled: Compiled): Promise<Brought> {
  const [held] = context.known.ofUid(uidOf(object))
  const wanted: WantedAddresses = {
    heldBy: held?.document.id ?? null,
    request: compiled.request,
    founder: uidOf(object),
    shownAddresses: (object.status?.['addresses'] as readonly string[] | undefined) ?? [],
    fields: FIELDS,
    inOwnWords,
  }
  let shown: ShownLoadBalancer | null = held ?? null
  try {
    shown = await keptLoadBalancer(context, wanted)
    shown = shown === null ? await create(context, wanted, compiled) : await replace(context, shown, compiled)
    return await bringFamilies(context, wanted, shown, [])
  } catch (error) {
    if (error instanceof Unsatisfiable) return { shown, refusal: error.refusal }
    if (error instanceof Refused) return { shown, refusal: inOwnWords(error) }
    throw error
  }
}

async function create(context: BringContext, wanted: WantedAddresses, { document }: Compiled) {
  const { service, documents, known } = context
  const classId = await classIdOf(context, wanted)
  const [primary] = await choicesOf(context, wanted)
  if (primary === undefined)
    throw new Unsatisfiable({ reason: 'NoAddressPool', field: FIELDS.families, message: 'There is no address for it.' })
  for (const id of loadBalancerIds(await service.projectId(), wanted.founder ?? '')) {
    try {
      const first = withoutEmptyGroups(document)
      const made = await firstGranted(primary, (vip) => documents.create(id, first, vip, classId))
      return noted(context, made, first)
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'AlreadyExists') throw error
      // It was created before an interruption, or by a previous leader.
      const there = await service.get(id)
      if (there === null) continue
      known.answered(there)
      const own = known.ofUid(wanted.founder ?? '').find((one) => one.document.id === id)
      if (own !== undefined) return replace(context, own, { document })
    }
  }
  throw new Unsatisfiable({ reason: 'AlreadyExists', field: 'metadata.uid', message: 'No id is left for it.' })
}

/** Writes the document, unless it is the one that was written last and nobody has changed the load balancer since. */
async function replace(context: BringContext, shown: ShownLoadBalancer, compiled: Pick<Compiled, 'document'>) {
  const { id, securityGroupIds = [] } = shown.document
  const document = securityGroupIds.length === 0 ? withoutEmptyGroups(compiled.document) : compiled.document
  if (context.written.get(id) === markOf(shown, document)) return shown
  return noted(context, await context.documents.replace(id, document), document)
}

/**
 * Leaves out an empty list of security groups. Writing it to a load balancer that has none would only make a new
 * version.
 */
function withoutEmptyGroups(document: Compiled['document']): Compiled['document'] {
  const { securityGroupIds = [], ...others } = document
  return securityGroupIds.length === 0 ? others : document
}

function noted(context: BringContext, shown: ShownLoadBalancer, document: Compiled['document']): ShownLoadBalancer {
  context.known.answered(shown)
  context.written.set(shown.document.id, markOf(shown, document))
  return context.known.get(shown.document.id) ?? shown
}

/** A text that identifies a written document and the version of the load balancer that the write led to. */
const markOf = ({ document: { generation, updatedAt } }: ShownLoadBalancer, document: Compiled['document']): string =>
  `${generation} ${updatedAt ?? ''} ${createHash('sha256').update(JSON.stringify(document)).digest('base64')}`

/** Translates a refusal of the control plane to fields of the spec. Most fields have the same names in both. */
export const inOwnWords = ({ code, message, field }: Refused): Refusal => ({
  reason: code,
  field: ownField(field),
  message: reasonOf(message),
})

function ownField(field: string | null): string {
  if (field === null) return 'spec'
  if (/^(vips|address|poolId)/.test(field)) return FIELDS.addresses
  if (field.startsWith('classId')) return FIELDS.loadBalancerClass
  return `spec.${field}`
}
