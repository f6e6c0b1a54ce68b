import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RoundTurns } from '../limits/round-turns.ts'
import { sendListAs } from '../native/long-answer.ts'

type Shown = Readonly<Record<string, unknown>>

const LIST = Symbol('list')

/** A list as an OpenStack service answers it: under a name of its own, with what stands beside it. */
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
 * Sends what routes of this scope answer as a list: at once when it is short, else in pieces as its reader takes them.
 * Call it before the routes are made.
 * @param turns in which all long answers of the server have their pieces made
 * @param whoOf whose pieces they are
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
