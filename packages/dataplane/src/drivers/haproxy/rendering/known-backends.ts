import type { NodePool, Service } from '@spout/model'
import type { ProxyMode } from '../sections/shape.ts'
import { type RenderedBackend, renderBackend } from './render-backend.ts'

interface Known {
  readonly backend: RenderedBackend
  readonly mode: ProxyMode
  readonly connectMs: number
  readonly memberMs: number
  /** The pool's members that were down. */
  readonly down: readonly string[]
}

const NOBODY: readonly string[] = []

/**
 * Renders the backends of pools, and keeps the last one of each pool: an entry may have hundreds of pools, and a change of
 * it concerns few of them. A pool that did not change is the same object in the next version of its entry. Its backend then
 * is the same object, too, by which later steps see that they have nothing to do for it.
 */
export class KnownBackends {
  readonly #known = new WeakMap<NodePool, Known>()

  /** As `renderBackend`. @throws RangeError, AddressSyntaxError */
  render(
    pool: NodePool,
    mode: ProxyMode,
    timeouts: Pick<Service['timeouts'], 'connectMs' | 'memberMs'>,
    down: ReadonlySet<string>,
  ): RenderedBackend {
    const { connectMs, memberMs } = timeouts
    const downHere =
      down.size === 0 ? NOBODY : pool.members.flatMap((member) => (member && down.has(member.id) ? [member.id] : []))
    const known = this.#known.get(pool)
    if (
      known?.mode === mode &&
      known.connectMs === connectMs &&
      known.memberMs === memberMs &&
      known.down.length === downHere.length &&
      known.down.every((id, at) => id === downHere[at])
    )
      return known.backend
    const backend = renderBackend(pool, mode, timeouts, down)
    this.#known.set(pool, { backend, mode, connectMs, memberMs, down: downHere })
    return backend
  }
}
