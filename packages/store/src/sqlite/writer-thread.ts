import { flushCompileCache } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { RecoveringWriter } from './recovering-writer.ts'
import { reasonOf } from './sqlite-error.ts'
import type { Answer, Message, Request, WriterState } from './writer-messages.ts'

const CLOSED: WriterState = { refusal: 'it is closed', floor: 0 }

const writers = new Map<number, RecoveringWriter>()

const say = (message: Message): void => parentPort?.postMessage(message)

function open(request: Request & { readonly op: 'open' }): Answer {
  try {
    const writer = new RecoveringWriter(request.options)
    writers.set(request.store, writer)
    return { state: writer.state, outcomes: [], error: null }
  } catch (error) {
    return { state: CLOSED, outcomes: [], error: reasonOf(error) }
  }
}

function perform(request: Request): Answer {
  if (request.op === 'open') return open(request)
  const writer = writers.get(request.store)
  if (writer === undefined) return { state: CLOSED, outcomes: [], error: 'it is closed' }
  switch (request.op) {
    case 'flush': {
      const outcomes = writer.flush(request.batch)
      return { state: writer.state, outcomes, error: null }
    }
    case 'compact': {
      const error = writer.compact(request.sequence)
      return { state: writer.state, outcomes: [], error }
    }
    case 'probe':
      writer.probe()
      return { state: writer.state, outcomes: [], error: null }
    case 'close':
      writers.delete(request.store)
      writer.close()
      return { state: CLOSED, outcomes: [], error: null }
  }
}

parentPort?.on('message', (request: Request) => {
  const { store } = request
  say({ store, ...perform(request) })
  // A checkpoint comes after the answer, because what was flushed need not wait for it.
  const writer = writers.get(store)
  if (writer?.checkpoint() === true) say({ store, state: writer.state })
})

// With a compile cache (NODE_COMPILE_CACHE) the next thread starts in half the time. A killed process would not save it.
flushCompileCache()
