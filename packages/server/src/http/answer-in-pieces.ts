import type { Principal } from '@spout/admission/contract'
import type { FastifyReply } from 'fastify'
import { noteAnswer } from '../audit/audit-notes.ts'
import type { RoundTurns } from '../turns/round-turns.ts'
import { shareOf } from '../turns/share-of.ts'
import { sendAsWritten } from './long-answer.ts'

/** Sends an answer whose long parts are `LongList`s in pieces. */
export const answerInPieces =
  (turns: RoundTurns) =>
  (reply: FastifyReply, principal: Principal, answer: object): unknown => {
    noteAnswer(reply.request, answer)
    return sendAsWritten(reply, () => turns.next(shareOf(principal)), answer)
  }
