import type { ObjectOf, Principal } from '@spout/admission/contract'
import { type Kind, SpoutError } from '@spout/model'
import type { z } from 'zod'
import type { NativeContext } from './context.ts'
import type { Access } from './route.ts'

/** How the API offers a kind for reading: list, watch and get. */
export interface Collection<K extends Kind> {
  readonly kind: K
  readonly path: string
  /** For people, such as `Load balancer`. */
  readonly what: string
  readonly access: Access
  readonly schema: z.ZodType
  /**
   * Whether only its project and administrators know an object. Then a change of it wakes no watch of another project.
   * Otherwise each change would cost its author time for every open watch.
   */
  readonly ofProject?: boolean
  /** Whether the caller may know of the object. */
  readonly visible: (principal: Principal, object: ObjectOf<K>) => boolean
  /** The id that clients use, if it is not the object's own. */
  readonly publicId?: (object: ObjectOf<K>) => string
  readonly show: (context: NativeContext, object: ObjectOf<K>) => Readonly<Record<string, unknown>>
}

/** The object if the caller may know of it. @throws SpoutError NotFound */
export function find<K extends Kind>(
  collection: Collection<K>,
  context: NativeContext,
  principal: Principal,
  id: string,
): ObjectOf<K> {
  const object = context.view.get(collection.kind, id)?.value
  if (object === undefined || !collection.visible(principal, object))
    throw new SpoutError('NotFound', { what: collection.what, id })
  return object
}
