import { join } from 'node:path'
import type { CarriedRequest, SyslogReceiver, SyslogSenders } from '@spout/dataplane'
import { type LogTroubleReport, MOST_LOG_TROUBLES } from '@spout/model/node-report'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { type LineOf, lineOf } from './access-line.ts'
import { RotatedFile, type RotatedFileOptions } from './rotated-file.ts'
import { syslogMessage } from './syslog-message.ts'

export interface AccessLogsOptions {
  /** Where files are written. Null: this node writes none. */
  readonly files: AccessLogFiles | null
  /** Null: this node sends nothing to syslog receivers. */
  readonly syslog: Pick<SyslogSenders, 'send' | 'keep' | 'troubleOf'> | null
}

export interface AccessLogFiles extends Pick<RotatedFileOptions, 'mostBytes' | 'files'> {
  /** The directory of the files, one per project: `<project id>.log`. */
  readonly directory: string
}

interface LoggedListener {
  readonly loadBalancerId: string
  readonly projectId: string
  readonly lineOf: LineOf
  /** The receiver of the lines. Null: they go to the project's file. */
  readonly receiver: SyslogReceiver | null
  /** Ids of the load balancer's pools, by number. */
  readonly pools: ReadonlyMap<number, string>
}

/** Numbers of access-log lines for files since the agent started: accepted, and lost of these. */
export type AccessLogCounts = Readonly<Record<'taken' | 'lost', number>>

/**
 * Writes access logs: a line for each request of a listener that logs, in the listener's format, to the project's file
 * or to a syslog receiver.
 */
export class AccessLogs {
  readonly #options: AccessLogsOptions
  readonly #listeners = new Map<string, LoggedListener>()
  /** Ids of the listeners of an entry, by its key. */
  readonly #ofEntry = new Map<string, readonly string[]>()
  /** By project. */
  readonly #files = new Map<string, RotatedFile>()
  readonly #counts = { taken: 0, lost: 0 }

  constructor(options: AccessLogsOptions) {
    this.#options = options
  }

  get counts(): AccessLogCounts {
    return { ...this.#counts }
  }

  /** The data plane now follows this entry; null when it forgot the key. */
  applied(key: string, entry: LoadBalancerEntry | null): void {
    for (const id of this.#ofEntry.get(key) ?? []) this.#listeners.delete(id)
    const ids: string[] = []
    const pools = new Map(entry?.pools.map(({ id, number }) => [number, id]))
    for (const { id, accessLog } of entry?.services ?? []) {
      if (accessLog === undefined || !isProjectId(accessLog.projectId)) continue
      ids.push(id)
      const { projectId, format, syslog: target } = accessLog
      const receiver = entry === null || target === undefined ? null : { domain: entry.domain, target }
      this.#listeners.set(id, { loadBalancerId: entry?.id ?? '', projectId, lineOf: lineOf(format), receiver, pools })
    }
    if (ids.length === 0) this.#ofEntry.delete(key)
    else this.#ofEntry.set(key, ids)
    this.#closeUnused()
  }

  /** Listeners whose lines cannot be delivered now, with the reason. At most as many as fit into a report. */
  troubles(): readonly LogTroubleReport[] {
    const { syslog } = this.#options
    if (syslog === null) return []
    return Array.from(this.#listeners, ([listenerId, { loadBalancerId, receiver }]) => {
      const reason = receiver === null ? null : syslog.troubleOf(receiver)
      return reason === null ? [] : [{ loadBalancerId, listenerId, reason }]
    })
      .flat()
      .slice(0, MOST_LOG_TROUBLES)
  }

  take(request: CarriedRequest): void {
    const listener = this.#listeners.get(request.listenerId)
    if (listener === undefined) return
    const pool = request.pool === null ? null : (listener.pools.get(request.pool) ?? null)
    const line = listener.lineOf(request, pool)
    if (listener.receiver !== null) this.#options.syslog?.send(listener.receiver, syslogMessage(line, request))
    else if (this.#options.files !== null) {
      this.#counts.taken++
      this.#fileOf(listener.projectId, this.#options.files).add(line)
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    await Promise.all([...this.#files.values()].map((file) => file.close()))
  }

  #fileOf(projectId: string, { directory, ...bounds }: AccessLogFiles): RotatedFile {
    const file =
      this.#files.get(projectId) ??
      new RotatedFile({
        ...bounds,
        path: join(directory, `${projectId}.log`),
        onLost: (lines) => {
          this.#counts.lost += lines
        },
      })
    this.#files.set(projectId, file)
    return file
  }

  #closeUnused(): void {
    const listeners = [...this.#listeners.values()]
    this.#options.syslog?.keep(listeners.flatMap(({ receiver }) => receiver ?? []))
    const used = new Set(listeners.flatMap(({ projectId, receiver }) => (receiver === null ? [projectId] : [])))
    for (const [projectId, file] of this.#files)
      if (!used.has(projectId)) {
        this.#files.delete(projectId)
        void file.close()
      }
  }
}

/** Project ids become file names. The control plane generates them, but a node accepts only harmless characters. */
const isProjectId = (id: string): boolean => /^[0-9a-zA-Z][0-9a-zA-Z-]{0,63}$/.test(id)
