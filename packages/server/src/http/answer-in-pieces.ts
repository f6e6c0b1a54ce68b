import type { Principal } from '@spout/admission/contract'
import type { FastifyReply } from 'fastify'
import type { RoundTurns } from '../limits/round-turns.ts'
import { shareOf } from '../limits/share-of.ts'
import { sendAsWritten } from '../native/long-answer.ts'

/** Sends the answer of a surface that shows what is long in it as `LongList`. */
export const answerInPieces =
  (turns: RoundTurns) =>
  (reply: FastifyReply, principal: Principal, answer: object): unknown =>
    sendAsWritten(reply, () => turns.next(shareOf(principal)), answer)
