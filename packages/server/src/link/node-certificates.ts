import type { ModelView } from '@spout/admission/contract'
import { type Node, SpoutError } from '@spout/model'
import type { Clock } from '@spout/runtime'
import type { Store } from '@spout/store'

const ATTEMPTS = 5

/**
 * The certificates of each node. After a renewal the previous one stays valid until the new one is first used, so that
 * a lost answer locks no node out.
 */
export class NodeCertificates {
  readonly #store: Store
  readonly #view: ModelView
  readonly #clock: Clock
  readonly #previous = new Map<string, string>()

  constructor(parts: { readonly store: Store; readonly view: ModelView; readonly clock: Clock }) {
    this.#store = parts.store
    this.#view = parts.view
    this.#clock = parts.clock
  }

  /** Whether this is the certificate of an existing node. */
  isCurrent(nodeId: string, sha256: string): boolean {
    const node = this.#view.get('node', nodeId)?.value
    if (node === undefined || node.certificateSha256 === null) return false
    if (node.certificateSha256 === sha256) {
      this.#previous.delete(nodeId)
      return true
    }
    return this.#previous.get(nodeId) === sha256
  }

  /** Records a renewed certificate. @throws SpoutError NotFound if the node is gone */
  async renew(nodeId: string, sha256: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const known = this.#view.get('node', nodeId)
      if (known === null) throw new SpoutError('NotFound', { what: 'Node', id: nodeId })
      const before = known.value.certificateSha256
      const value: Node = { ...known.value, certificateSha256: sha256, updatedAt: this.#clock.now().toISOString() }
      try {
        // Set before the commit, because the view may show the change at any moment.
        if (before !== null) this.#previous.set(nodeId, before)
        const write = { op: 'put', kind: 'node', id: nodeId, scope: null, value, ifRevision: known.revision } as const
        const { revision } = await this.#store.commit([write])
        await this.#view.caughtUp(revision)
        return
      } catch (error) {
        const collided = error instanceof SpoutError && error.code === 'RevisionConflict'
        if (!collided || attempt === ATTEMPTS) throw error
        await this.#view.caughtUp(await this.#store.revision())
      }
    }
  }
}
