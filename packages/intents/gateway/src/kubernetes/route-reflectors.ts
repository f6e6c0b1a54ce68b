import { type KindReflector, WhenReadable } from '@spout/connector'
import { type DeletionGuardPolicy, Reflector, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { RouteObject } from '../objects/route.ts'
import { ROUTE_KINDS } from '../route-kinds/all.ts'
import type { RouteKind } from '../to-model/rules/route-kind.ts'
import { trimmed, versioned } from './trimmed.ts'

export interface RouteReflectorsOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
}

interface Reflected {
  readonly kind: RouteKind
  readonly reflector: Reflector<RouteObject, RouteObject>
  readonly whenReadable: WhenReadable
}

/**
 * The routes of all kinds. A cluster may lack a kind, or RBAC may not let us read it. Each kind is read as soon as it
 * is there and readable.
 */
export class RouteReflectors {
  readonly #all: ReadonlyMap<string, Reflected>

  constructor(options: RouteReflectorsOptions) {
    this.#all = new Map(ROUTE_KINDS.map((kind) => [kind.kind, reflectedOf(kind, options)]))
  }

  /** The reflectors that are running. */
  get reflectors(): readonly KindReflector[] {
    return [...this.#all.values()].flatMap(({ kind, reflector, whenReadable }) =>
      whenReadable.begun ? [{ kind: kind.kind, reflector }] : [],
    )
  }

  /**
   * Whether every readable kind has been listed. It turns false again while a kind that was installed later is listed.
   */
  get ready(): boolean {
    return this.#all
      .values()
      .every(({ reflector, whenReadable }) => (whenReadable.begun ? reflector.hasSynced : whenReadable.isUnreadable))
  }

  start(): void {
    for (const { whenReadable } of this.#all.values()) whenReadable.start()
  }

  async stop(): Promise<void> {
    for (const { whenReadable, reflector } of this.#all.values()) {
      await whenReadable.stop()
      await reflector.close()
    }
  }

  /** Calls back with the id of each route that changed. */
  onChange(listener: (id: string) => void): void {
    for (const [kind, { reflector }] of this.#all) reflector.onChange((key) => listener(`${kind}/${key}`))
  }

  /** @param id `kind/namespace/name` */
  get(id: string): RouteObject | undefined {
    const at = id.indexOf('/')
    const reflected = this.#all.get(id.slice(0, at))
    return reflected === undefined ? undefined : versioned(reflected.reflector, id.slice(at + 1))
  }

  *all(): Iterable<RouteObject> {
    for (const { reflector } of this.#all.values()) for (const [, one] of reflector.list()) yield one
  }
}

function reflectedOf(kind: RouteKind, { transport, clock, log, deletionGuard }: RouteReflectorsOptions): Reflected {
  const reflector = new Reflector<RouteObject, RouteObject>({
    ...{ transport, clock, log, resource: kind.resource },
    ...(deletionGuard !== undefined && { deletionGuard }),
    // The API server leaves out `kind` in the items of a list.
    trim: (route) => ({ ...trimmed(route), kind: kind.kind }),
  })
  const whenReadable = new WhenReadable({
    ...{ transport, clock, log, api: kind.kind, resources: [kind.resource] },
    begin: () => void reflector.start(),
  })
  return { kind, reflector, whenReadable }
}
