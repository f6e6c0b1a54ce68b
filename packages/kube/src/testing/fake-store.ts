import { randomUUID } from 'node:crypto'
import type { KubeObject } from '../types/index.ts'

export interface StoredEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly version: number
  readonly collection: string
  readonly object: KubeObject
}

export interface StoredState {
  readonly version: number
  readonly objects: ReadonlyMap<string, KubeObject>
}

/** Stands in for etcd: objects by path, one revision for all, and an event log that can be compacted. */
export class FakeStore {
  #objects = new Map<string, KubeObject>()
  #log: StoredEvent[] = []
  #version = 100
  #floor = 100
  readonly #watchers = new Set<(event: StoredEvent) => void>()

  get version(): number {
    return this.#version
  }

  /** Watches and pages from a version older than this are refused. */
  get floor(): number {
    return this.#floor
  }

  get(path: string): KubeObject | undefined {
    return this.#objects.get(path)
  }

  put(path: string, object: KubeObject): KubeObject {
    const before = this.#objects.get(path)
    const stored: KubeObject = {
      ...object,
      metadata: {
        ...object.metadata,
        uid: before?.metadata.uid ?? object.metadata.uid ?? randomUUID(),
        resourceVersion: String(++this.#version),
      },
    }
    this.#objects.set(path, stored)
    this.#happened(before === undefined ? 'ADDED' : 'MODIFIED', path, stored)
    return stored
  }

  delete(path: string): boolean {
    const before = this.#objects.get(path)
    if (before === undefined) return false
    this.#objects.delete(path)
    const metadata = { ...before.metadata, resourceVersion: String(++this.#version) }
    this.#happened('DELETED', path, { ...before, metadata })
    return true
  }

  /** Objects below a collection's path as of a version; `/api/v1/services` holds those of all namespaces. */
  list(collection: string, version = this.#version): readonly KubeObject[] {
    const objects = new Map([...this.#objects].filter(([path]) => isIn(collection, path)))
    for (const event of this.#log.toReversed())
      if (event.version > version && isIn(collection, event.collection)) undo(objects, event, this.#log)
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
  }

  eventsAfter(collection: string, version: number): readonly StoredEvent[] {
    return this.#log.filter((event) => event.version > version && isIn(collection, event.collection))
  }

  onEvent(watcher: (event: StoredEvent) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  compact(): void {
    this.#floor = this.#version
  }

  snapshot(): StoredState {
    return { version: this.#version, objects: new Map(this.#objects) }
  }

  /** Goes back to a snapshot. Like etcd after a restore, it sends no events. */
  restore({ version, objects }: StoredState): void {
    this.#version = version
    this.#objects = new Map(objects)
    this.#log = this.#log.filter((event) => event.version <= version)
    this.#floor = Math.min(this.#floor, version)
  }

  #happened(type: StoredEvent['type'], path: string, object: KubeObject): void {
    const event = { type, version: this.#version, collection: path, object }
    this.#log.push(event)
    for (const watcher of this.#watchers) watcher(event)
  }
}

const ALL_NAMESPACES = /^(.*)\/namespaces\/[^/]+\/([^/]+)$/

/** Whether the object at a path is in a collection, which may be that of all namespaces. */
export function isIn(collection: string, path: string): boolean {
  const parent = path.slice(0, path.lastIndexOf('/'))
  if (parent === collection) return true
  const [, root, plural] = ALL_NAMESPACES.exec(parent) ?? []
  return root !== undefined && `${root}/${plural}` === collection
}

function undo(objects: Map<string, KubeObject>, event: StoredEvent, log: readonly StoredEvent[]): void {
  const before = log.findLast(({ collection, version }) => collection === event.collection && version < event.version)
  if (before === undefined || before.type === 'DELETED') objects.delete(event.collection)
  else objects.set(event.collection, before.object)
}
