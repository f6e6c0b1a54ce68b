import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'

/** Takes a request: answers it, or passes it on with `handle`, now or later. */
export type TakeRequest = (request: IncomingMessage, response: ServerResponse, handle: () => void) => void

/** @returns what a server does with a request now, with all that was put ahead of its handlers so far */
export function handlersOf(server: Server): RequestListener {
  const handlers = server.listeners('request') as RequestListener[]
  return (request, response) => {
    for (const handler of handlers) handler.call(server, request, response)
  }
}

/** Puts `take` ahead of a server's handlers of requests. Call it after they were added. */
export function aheadOfHandlers(server: Server, take: TakeRequest): void {
  const handle = handlersOf(server)
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    take(request, response, () => handle(request, response)),
  )
}
