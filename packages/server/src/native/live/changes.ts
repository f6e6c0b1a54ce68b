import type { Kind } from '@spout/model'

/** Another object that changed. */
export interface ChangedOther {
  readonly kind: Kind
  readonly id: string
  /** The project of a deleted object, if it had one. */
  readonly goneFrom?: string
}

/** What changed since readers were last told: keys only, because readers get what is there when they are told. */
export class Changes {
  readonly loadBalancers = new Set<string>()
  /** Load balancers whose rates changed, and maybe nothing else. */
  readonly rates = new Set<string>()
  /** Deleted load balancers, with their projects. */
  readonly gone = new Map<string, string | undefined>()
  readonly nodes = new Set<string>()
  readonly others = new Map<string, ChangedOther>()

  get isEmpty(): boolean {
    return this.loadBalancers.size + this.rates.size + this.gone.size + this.nodes.size + this.others.size === 0
  }

  other(changed: ChangedOther): void {
    this.others.set(`${changed.kind} ${changed.id}`, changed)
  }

  /** Both together, for a reader that has been told of neither. */
  plus(later: Changes): Changes {
    const all = new Changes()
    for (const part of [this, later]) {
      for (const id of part.loadBalancers) all.loadBalancers.add(id)
      for (const id of part.rates) all.rates.add(id)
      for (const [id, project] of part.gone) all.gone.set(id, project)
      for (const id of part.nodes) all.nodes.add(id)
      for (const changed of part.others.values()) all.other(changed)
    }
    return all
  }
}
