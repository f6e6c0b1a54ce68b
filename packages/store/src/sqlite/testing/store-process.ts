import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import { SpoutError } from '@spout/model'
import { SqliteStore, type SqliteStoreOptions } from '../sqlite-store.ts'

/**
 * Runs the commands that it reads from stdin, one JSON object per line, on a store, so that tests can take its disk away
 * or kill it. Prints `{ready}` once; answers `{id, result}` or `{id, error, message}`; reports `{acknowledged}` and
 * `{change}` as they happen.
 */
export type Command =
  | { readonly op: 'open'; readonly options: SqliteStoreOptions }
  | { readonly op: 'put'; readonly id: string; readonly bytes: number }
  | { readonly op: 'get'; readonly id: string }
  | { readonly op: 'health' }
  | { readonly op: 'close' }
  | { readonly op: 'watch' }
  | { readonly op: 'write-pairs'; readonly writers: number }

/** One commit of a writer: it puts `left-<writer>` and `right-<writer>`, both with count `n`. */
export interface Pair {
  readonly writer: number
  readonly n: number
  readonly revision: string
}

export type Message =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string; readonly message: string }
  | { readonly acknowledged: Pair }
  | { readonly change: string }
  | { readonly ready: true }

const say = (message: Message): void => {
  // Writes to a pipe are synchronous here: the parent has the acknowledgement before the next commit starts.
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

let store: SqliteStore | null = null
const opened = (): SqliteStore => {
  if (store === null) throw new Error('not opened')
  return store
}

async function writePairs(writer: number): Promise<never> {
  const last = await opened().get('pair', `left-${writer}`)
  let n = last === null ? 0 : (last.value as { n: number }).n
  for (;;) {
    n += 1
    const value = { n, padding: 'x'.repeat((n * 37) % 900) }
    const { revision } = await opened().commit([
      { op: 'put', kind: 'pair', id: `left-${writer}`, scope: null, value },
      { op: 'put', kind: 'pair', id: `right-${writer}`, scope: null, value },
    ])
    say({ acknowledged: { writer, n, revision } })
  }
}

async function reportChanges(): Promise<void> {
  const from = await opened().revision()
  for await (const change of opened().watch({ from, signal: new AbortController().signal }))
    if (change.type === 'put') say({ change: change.object.id })
}

async function perform(command: Command): Promise<unknown> {
  switch (command.op) {
    case 'open':
      store = await SqliteStore.open(command.options)
      return null
    case 'put': {
      const value = 'x'.repeat(command.bytes)
      return opened().commit([{ op: 'put', kind: 'node', id: command.id, scope: null, value }])
    }
    case 'get':
      return (await opened().get('node', command.id))?.id ?? null
    case 'health':
      return opened().health()
    case 'close':
      return opened().close()
    case 'watch':
      void reportChanges()
      return null
    case 'write-pairs':
      return Promise.all(Array.from({ length: command.writers }, (_, writer) => writePairs(writer)))
  }
}

// With a compile cache (NODE_COMPILE_CACHE) the next process starts in half the time. A killed process would not save
// it.
flushCompileCache()
say({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const { id, command } = JSON.parse(line) as { id: number; command: Command }
  perform(command).then(
    (result) => say({ id, result }),
    (error: unknown) => say({ id, error: error instanceof SpoutError ? error.code : 'Error', message: String(error) }),
  )
}
