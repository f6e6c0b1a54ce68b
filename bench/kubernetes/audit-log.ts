import { closeSync, existsSync, openSync, readSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Lab } from '@spout/testkit'

/** A write to the API server, from its audit log. */
export interface AuditedWrite {
  /** Product and version of the client, such as `spout-connector`. */
  readonly userAgent: string
  readonly verb: string
  /** With its subresource: `services/status`. */
  readonly resource: string
  /** Status of the answer; 0 without one. */
  readonly code: number
}

interface AuditEvent {
  readonly auditID: string
  readonly stage: string
  readonly verb: string
  readonly userAgent?: string
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string }
  readonly responseStatus?: { readonly code?: number }
}

const WATCH = 'watch'
const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection', WATCH] },
    { level: 'None' },
  ],
}
const PIECE_BYTES = 1 << 20

/** The API server's own record of every write with its client, including refused ones, and of every watch. */
export class AuditLog {
  readonly #file: string
  readonly #policyFile: string

  constructor(lab: Lab) {
    this.#file = path.join(lab.directory, 'audit.log')
    this.#policyFile = path.join(lab.directory, 'audit-policy.json')
    writeFileSync(this.#policyFile, JSON.stringify(POLICY))
  }

  /** Flags for the API server. */
  get flags(): readonly string[] {
    return [`--audit-policy-file=${this.#policyFile}`, `--audit-log-path=${this.#file}`, '--audit-log-maxsize=10000']
  }

  /** The current end of the record, for `writesSince`. */
  get end(): number {
    return existsSync(this.#file) ? statSync(this.#file).size : 0
  }

  /** Writes since then of clients whose user agent begins with one of these words. */
  writesSince(from: number, userAgents: readonly string[]): readonly AuditedWrite[] {
    const found: AuditedWrite[] = []
    for (const { userAgent = '', verb, objectRef, responseStatus, stage } of this.#eventsOf(userAgents, from)) {
      if (stage === 'Panic' || verb === WATCH) continue
      const { resource = '', subresource } = objectRef ?? {}
      const what = subresource === undefined ? resource : `${resource}/${subresource}`
      found.push({ userAgent, verb, resource: what, code: responseStatus?.code ?? 0 })
    }
    return found
  }

  /** How many watches they have open: begun to be answered, and not ended. */
  openWatches(userAgents: readonly string[]): number {
    const open = new Set<string>()
    for (const { auditID, verb, stage } of this.#eventsOf(userAgents, 0)) {
      if (verb !== WATCH) continue
      if (stage === 'ResponseStarted') open.add(auditID)
      else open.delete(auditID)
    }
    return open.size
  }

  *#eventsOf(userAgents: readonly string[], from: number): Generator<AuditEvent> {
    for (const line of this.#lines(from)) {
      const event = JSON.parse(line) as AuditEvent
      if (userAgents.some((start) => event.userAgent?.startsWith(start))) yield event
    }
  }

  *#lines(from: number): Generator<string> {
    if (!existsSync(this.#file)) return
    const file = openSync(this.#file, 'r')
    try {
      const piece = Buffer.alloc(PIECE_BYTES)
      let rest = Buffer.alloc(0)
      for (let at = from; ; ) {
        const size = readSync(file, piece, 0, PIECE_BYTES, at)
        if (size === 0) return
        at += size
        const whole = Buffer.concat([rest, piece.subarray(0, size)])
        const end = whole.lastIndexOf(10) + 1
        rest = Buffer.from(whole.subarray(end))
        for (const line of whole.toString('utf8', 0, end).split('\n')) if (line !== '') yield line
      }
    } finally {
      closeSync(file)
    }
  }
}

/** `create events 10; patch services 50; patch services (409) 1`. */
export function countedText(writes: readonly AuditedWrite[]): string {
  const counts = new Map<string, number>()
  for (const { verb, resource, code } of writes) {
    const what = code >= 200 && code < 300 ? `${verb} ${resource}` : `${verb} ${resource} (${code})`
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return [...counts]
    .sort()
    .map(([what, count]) => `${what} ${count}`)
    .join('; ')
}
