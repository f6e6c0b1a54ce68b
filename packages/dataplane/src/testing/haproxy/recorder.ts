import http from 'node:http'
import type net from 'node:net'
import { MEMBER_ADDRESS } from './proxy-lab.ts'

export type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void

/** A member that keeps the requests that it saw, and answers as it was last told to. */
export async function recorder(first: Answer) {
  let seen: http.IncomingMessage[] = []
  let answers = first
  const server = http.createServer((request, response) => {
    seen.push(request)
    request.resume()
    answers(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, MEMBER_ADDRESS, resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return {
    port: (server.address() as net.AddressInfo).port,
    seen: () => seen,
    from: (answer: Answer) => {
      seen = []
      answers = answer
    },
    close,
  }
}

export const says =
  (status: number, headers: http.OutgoingHttpHeaders = {}, body = ''): Answer =>
  (_, response) =>
    response.writeHead(status, headers).end(body)
