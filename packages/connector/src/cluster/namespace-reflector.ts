import { NAMESPACES, type Namespace, Reflector, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { NamespaceLabels } from '../tenancy/namespace-labels.ts'
import type { KindReflector } from './kind-reflector.ts'

export interface NamespaceReflectorOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly log: Logger
  /** The labels that rules use; when empty, namespaces are not read at all. */
  readonly labels: readonly string[]
}

type Labels = Readonly<Record<string, string>>

/** The labels of the cluster's namespaces. Namespaces are read only if rules use their labels. */
export class NamespaceReflector implements NamespaceLabels {
  readonly #reflector: Reflector<Namespace, Labels> | null

  constructor({ transport, clock, log, labels }: NamespaceReflectorOptions) {
    this.#reflector =
      labels.length === 0
        ? null
        : new Reflector<Namespace, Labels>({
            transport,
            clock,
            log,
            resource: NAMESPACES,
            trim: ({ metadata }) => Object.fromEntries(labels.flatMap((name) => entryOf(metadata.labels ?? {}, name))),
          })
  }

  /** One reflector, or none. */
  get reflectors(): readonly KindReflector[] {
    return this.#reflector === null ? [] : [{ kind: NAMESPACES.kind, reflector: this.#reflector }]
  }

  get ready(): boolean {
    return this.#reflector?.hasSynced ?? true
  }

  of(namespace: string): Labels | null {
    return this.#reflector === null ? {} : (this.#reflector.get(namespace) ?? null)
  }

  onChange(listener: (namespace: string) => void): () => void {
    return this.#reflector?.onChange(listener) ?? (() => {})
  }

  start(): void {
    this.#reflector?.start()
  }

  async stop(): Promise<void> {
    await this.#reflector?.close()
  }

  confirm(): void {
    this.#reflector?.confirm()
  }
}

const entryOf = (labels: Labels, name: string): readonly (readonly [string, string])[] => {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined
  return value === undefined ? [] : [[name, value]]
}
