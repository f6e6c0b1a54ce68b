import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'

/** Takes a request: answers it, or passes it on with `handle`, now or later. */
export type TakeRequest = (request: IncomingMessage, response: ServerResponse, handle: () => void) => void

/** Puts `take` ahead of a server's handlers of requests. Call it after they were added. */
export function aheadOfHandlers(server: Server, take: TakeRequest): void {
  const handlers = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    take(request, response, () => {
      for (const handler of handlers) handler.call(server, request, response)
    }),
  )
}
