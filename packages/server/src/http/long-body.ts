import type { Principal, Turn } from '@spout/admission/contract'
import type { FastifyRequest } from 'fastify'
import type { RoundTurns } from '../turns/round-turns.ts'
import { shareOf } from '../turns/share-of.ts'

/** Shorter bodies are handled at once: to validate one takes less than a millisecond. */
const MOST_AT_ONCE_BYTES = 16_384

/** Whether the body is long, or of a length that was not announced. */
export const isLongBody = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > MOST_AT_ONCE_BYTES

/** The turns of requests with long bodies, whose work is done in pieces; null for others. */
export const turnsOfLongBodies =
  (turns: RoundTurns) =>
  (request: FastifyRequest, principal: Principal): Turn | null =>
    isLongBody(request) ? () => turns.next(shareOf(principal)) : null
