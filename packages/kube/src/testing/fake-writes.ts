import type { IncomingMessage, ServerResponse } from 'node:http'
import { parse } from 'yaml'
import type { KubeObject } from '../types/index.ts'
import type { FakeStore } from './fake-store.ts'

type Json = Readonly<Record<string, unknown>>

export interface OneRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly isCollection: boolean
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

export function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

export const ok = (body: unknown): Answer => ({ status: 200, body })

export const refusal = (code: number, reason: string, message: string): Answer => ({
  status: code,
  body: { kind: 'Status', status: 'Failure', code, reason, message },
})

/** Reads and writes single objects, with the preconditions that the real server checks. */
export function answerOne(store: FakeStore, request: OneRequest, text: string): Answer {
  const body = (text === '' ? {} : parse(text)) as Json & Partial<KubeObject>
  const path = request.path.replace(/\/status$/, '')
  const before = store.get(path)
  if (request.method === 'POST' && request.isCollection) {
    const at = `${path}/${body.metadata?.name}`
    if (store.get(at) !== undefined) return refusal(409, 'AlreadyExists', 'it exists')
    return { status: 201, body: store.put(at, body as KubeObject) }
  }
  const isApply = request.method === 'PATCH' && request.query['fieldManager'] !== undefined
  if (before === undefined && isApply && request.path === path)
    return { status: 201, body: store.put(path, body as KubeObject) }
  if (before === undefined) return refusal(404, 'NotFound', `${path} not found`)
  if (request.method === 'GET') return ok(before)
  const precondition = body.metadata?.resourceVersion ?? preconditions(body)?.['resourceVersion']
  if (precondition !== undefined && precondition !== before.metadata.resourceVersion)
    return refusal(409, 'Conflict', 'the object has been modified')
  if (request.method === 'DELETE') {
    const uid = preconditions(body)?.['uid']
    if (uid !== undefined && uid !== before.metadata.uid) return refusal(409, 'Conflict', 'another UID')
    if ((before.metadata.finalizers ?? []).length > 0) {
      const metadata = { ...before.metadata, deletionTimestamp: new Date().toISOString() }
      return ok(store.put(path, { ...before, metadata }))
    }
    store.delete(path)
    return ok({ kind: 'Status', status: 'Success' })
  }
  const after = (request.method === 'PUT' ? body : merged(before, body)) as KubeObject
  if (after.metadata.deletionTimestamp !== undefined && (after.metadata.finalizers ?? []).length === 0) {
    store.delete(path)
    return ok(after)
  }
  return ok(JSON.stringify(after) === JSON.stringify(before) ? before : store.put(path, after))
}

const preconditions = (body: Json): Readonly<Record<string, string>> | undefined =>
  body['preconditions'] as Readonly<Record<string, string>> | undefined

/** RFC 7386. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Record<string, unknown> = { ...(target as Json | undefined) }
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name]
    else result[name] = merged(result[name], value)
  return result
}
