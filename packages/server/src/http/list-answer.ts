import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RoundTurns } from '../turns/round-turns.ts'
import { sendListAs } from './long-answer.ts'

type Shown = Readonly<Record<string, unknown>>

const LIST = Symbol('list')

/** A list as an OpenStack service answers it: under its own name, beside other fields. */
export interface ListAnswer {
  readonly [LIST]: true
  readonly name: string
  readonly items: readonly Shown[]
  readonly rest: Shown
}

export const listAnswer = (name: string, items: readonly Shown[], rest: Shown = {}): ListAnswer => ({
  ...{ [LIST]: true, name, items, rest },
})

/**
 * Sends the lists that routes of this scope answer: short ones at once, long ones in pieces as the reader takes them.
 * Call it before the routes are added.
 * @param turns schedules the pieces of all long answers of the server
 * @param whoOf whose turn a piece takes
 */
export function sendListsInPieces(
  scope: FastifyInstance,
  turns: RoundTurns,
  whoOf: (request: FastifyRequest) => string | Promise<string>,
): void {
  scope.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = async function (request: FastifyRequest, reply: FastifyReply) {
      const answer: unknown = await handler.call(this, request, reply)
      if (!isList(answer)) return answer
      const { name, items, rest } = answer
      let who: string | null = null
      const turn = async (): Promise<void> => {
        who ??= await whoOf(request)
        await turns.next(who)
      }
      return sendListAs(name, reply, turn, items, rest)
    }
  })
}

const isList = (answer: unknown): answer is ListAnswer =>
  typeof answer === 'object' && answer !== null && LIST in answer
